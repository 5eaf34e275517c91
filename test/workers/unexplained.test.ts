import assert from 'node:assert/strict';
import type { DepositRead, Ingester, ScannedRange } from '../../commands/chainPorts.ts';
import { payinAddress } from '../../domain/payment/payins.ts';
import { paymentDecider } from '../../domain/payment/state.ts';
import { unexplainedName, unexplainedWorker } from '../../src/workers/payins/unreadable.ts';
import { believing } from '../support/believing.ts';
import { append, createWorld } from '../support/histories.ts';
import * as p from '../support/payments.ts';
import { logOf } from '../support/transferLogs.ts';

const { signal } = new AbortController();
const { paymentId, appId } = p.terms();

describe('a deposit that was set aside', () => {
  const world = async (read: DepositRead) => {
    const log = createWorld();
    await append(log, `payment-${paymentId}`, p.unpaid);
    const alarms: string[] = [];
    const worker = unexplainedWorker({
      ...believing,
      handle: log.handle,
      clock: log.clock,
      ingester: {
        chainId: 8453,
        largeFrom: null,
        sharedAddresses: [],
        readDeposit: async () => read,
      } as Partial<Ingester> as never,
      caughtUp: async () => {},
      matchDeposits: async () => [{ paymentId, appId, ...payinAddress(p.depositAddress, null), agreed_usd: 11n }],
      unmatched: async () => assert.fail('nothing is shared'),
      payinsInBlocks: async () => [],
      park: async (_, txHash, error) => assert.fail(`${txHash}: ${error}`),
      stray: () => {},
      setAside: async () => assert.fail('it is set aside already'),
      due: async () => [{ key: p.depositAddress }],
      alarm: (address) => void alarms.push(address),
    });
    const [item] = await worker.due(1, log.clock.now());
    assert.ok(item);
    const phases = async () => {
      const found = await log.handle(paymentDecider, paymentId, () => [], { cause: 'worker:test', appId: null });
      assert.ok('state' in found && found.state);
      return found.state.payins.map(({ phase }) => phase);
    };
    return { worker, alarms, phases, act: () => worker.act(item, signal) };
  };
  const logs: ScannedRange['logs'] = [logOf(p.payin())];

  it('is read separately, and its received money is confirmed, once', async () => {
    const { worker, act, phases, alarms } = await world({ logs, explained: true });
    await act();
    await act();
    assert.deepEqual([await phases(), alarms], [['confirmed'], []]);
    assert.equal(worker.name, unexplainedName(8453));
  });

  it('remains noted, with an alarm, while it does not add up; its known part is recorded', async () => {
    const { act, phases, alarms } = await world({ logs, explained: false });
    await assert.rejects(act(), { name: 'Unexplained', message: /longer history/ });
    assert.deepEqual([await phases(), alarms], [['confirmed'], [p.depositAddress]]);
  });
});
