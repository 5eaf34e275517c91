import assert from 'node:assert/strict';
import type { Ingester } from '../../commands/chainPorts.ts';
import { Unavailable } from '../../commands/ports.ts';
import type { Transfer } from '../../domain/payment/events.ts';
import { payinAddress } from '../../domain/payment/payins.ts';
import { paymentDecider } from '../../domain/payment/state.ts';
import { RpcFailed } from '../../src/chains/node/jsonRpc.ts';
import { ChainUnavailable } from '../../src/chains/node/nodes.ts';
import { unreadableName } from '../../src/postgres/unreadable.ts';
import { unreadableWorker } from '../../src/workers/payins/unreadable.ts';
import { believing } from '../support/believing.ts';
import { append, createWorld } from '../support/histories.ts';
import * as p from '../support/payments.ts';

const { signal } = new AbortController();
const { paymentId, appId } = p.terms();

describe('a transaction that could not be read', () => {
  const own = payinAddress(p.depositAddress, null).address;
  const world = async (transfers: readonly Transfer[], addresses: readonly string[] = []) => {
    const log = createWorld();
    await append(log, `payment-${paymentId}`, p.unpaid);
    const around = {
      transfers,
      fails: null as Error | null,
      head: true,
      unmatched: [] as string[],
      deep: true,
      odd: '',
    };
    const worker = unreadableWorker({
      ...believing,
      confirmationGate: { ...believing.confirmationGate, isProven: async () => around.deep },
      handle: log.handle,
      clock: log.clock,
      ingester: {
        chainId: 8453,
        passes: ['head', 'final', 'finalLarge'],
        largeFrom: 1_000n,
        sharedAddresses: ['GSHARED'],
        async lookUp(_, __, whole) {
          if (around.fails) throw around.fails;
          if (whole && around.odd) throw new Unavailable(around.odd);
          return around.transfers;
        },
        async head() {
          if (!around.head) throw new Unavailable('no node answers');
          return { blockNumber: 1n, chainTime: p.created_at };
        },
      } as Partial<Ingester> as Ingester,
      caughtUp: async () => {},
      matchDeposits: async () => [{ paymentId, appId, ...payinAddress(p.depositAddress, null), agreed_usd: 11n }],
      unmatched: async ({ txHash }) => around.unmatched.push(txHash) > 0,
      payinsInBlocks: async () => [],
      park: async (_, txHash, error) => assert.fail(`${txHash}: ${error}`),
      stray: () => {},
      setAside: async () => assert.fail('nothing is unexplained'),
      due: async () => [],
    });
    const payins = async () => {
      const found = await log.handle(paymentDecider, paymentId, () => [], { cause: 'worker:test', appId: null });
      assert.ok('state' in found && found.state);
      return found.state.payins.map(({ phase, amount }) => `${phase} ${amount}`);
    };
    return { worker, around, payins, act: () => worker.act({ key: 'hash', addresses }, signal) };
  };

  it('is recorded once it is readable, like by the scan, small and large amounts, once', async () => {
    const large = p.payin({ tx: 'large', amount: '2000.00' });
    const stray = { ...p.payin({ tx: 'stray' }), to: 'GSHARED', memo: 'unknown' };
    const { worker, act, payins, around } = await world([p.payin(), large, stray]);
    await act();
    await act();
    assert.deepEqual(await payins(), [`confirmed ${p.of('10.01')}`, `confirmed ${p.of('2000.00')}`]);
    assert.deepEqual(new Set(around.unmatched), new Set([stray.txHash]));
    assert.equal(worker.name, unreadableName(8453));
  });

  it('is recorded as detected while it is not deep enough: the final passes query it', async () => {
    const { act, payins, around } = await world([p.payin()]);
    around.deep = false;
    await act();
    assert.deepEqual(await payins(), [`detected ${p.of('10.01')}`]);
  });

  it('counts as failed while it is unreadable, and not while no node answers', async () => {
    const { act, around } = await world([p.payin()]);
    around.fails = new Unavailable('node 1: meta is null');
    await assert.rejects(act(), { name: 'Unread', message: /meta is null/ });
    around.head = false;
    await assert.rejects(act(), Unavailable);
    around.fails = new TypeError('version 2 is not known');
    await assert.rejects(act(), { name: 'Unread', message: /version 2/ });
  });

  it('does not count as failed while the nodes accept no such calls, though they return their heads', async () => {
    const { act, around } = await world([p.payin()]);
    const crowded = new RpcFailed('node 1', 'getTransaction', 'limited', 'it takes no more calls for now');
    around.fails = new ChainUnavailable(8453, [crowded, crowded]);
    await assert.rejects(act(), ChainUnavailable);
    const lost = new RpcFailed('node 2', 'getTransaction', 'malformed', 'meta is null');
    around.fails = new ChainUnavailable(8453, [crowded, lost]);
    await assert.rejects(act(), { name: 'Unread', message: /meta is null/ });
  });

  it('is not forgotten while nodes return nothing of it, nor while they return transfers to other receivers', async () => {
    await assert.rejects((await world([])).act(), { name: 'Unread', message: /no transfer to us/ });
    const stray = { ...p.payin({ tx: 'stray' }), to: 'GSHARED', memo: 'unknown' };
    const { act, around } = await world([stray], [own]);
    await assert.rejects(act(), { name: 'Unread', message: new RegExp(`no transfer to ${own}`) });
    assert.deepEqual(new Set(around.unmatched), new Set([stray.txHash]));
    around.transfers = [stray, p.payin()];
    await act();
  });

  it('is not forgotten while one of two events is unreadable; the money of the other one is recorded', async () => {
    const { act, around, payins } = await world([p.payin()], [own]);
    around.odd = 'log 7 is no transfer of ERC-20';
    await assert.rejects(act(), { name: 'Unread', message: /log 7/ });
    assert.deepEqual(await payins(), [`confirmed ${p.of('10.01')}`]);
    around.odd = '';
    await act();
  });

  it('is not forgotten while nodes return only one of the deposits that it may have paid', async () => {
    const other = payinAddress(p.merchantWallet, null).address;
    const { act, around } = await world([p.payin()], [own, other]);
    await assert.rejects(act(), { name: 'Unread', message: new RegExp(`no transfer to ${other} in`) });
    around.transfers = [p.payin(), { ...p.payin({ tx: 'other' }), to: p.merchantWallet }];
    await act();
  });
});
