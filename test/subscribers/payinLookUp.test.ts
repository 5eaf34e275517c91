import assert from 'node:assert/strict';
import type { Ingester } from '../../commands/chainPorts.ts';
import { currentState } from '../../commands/handle.ts';
import type { Transfer } from '../../domain/payment/events.ts';
import { paymentDecider } from '../../domain/payment/state.ts';
import { parkedPayinKey, parkedPayinsWorker } from '../../src/subscribers/payinLookUp.ts';
import { customerWallet, paid, payin, terms, unpaid } from '../support/payments.ts';
import { accepted, processes } from '../support/processes.ts';

const { paymentId } = terms();
const { signal } = new AbortController();
const item = { key: parkedPayinKey(paymentId, payin().txHash) };

describe('trying a transfer again that was set aside', () => {
  it('records it as seen, for the final passes to confirm', async () => {
    const { act, phases } = await world(unpaid, [payin(), { ...payin({ index: 1 }), to: customerWallet }]);
    await act();
    assert.deepEqual(await phases(), ['detected']);
    await act();
    assert.deepEqual(await phases(), ['detected']);
  });

  it('changes nothing about what is confirmed by now', async () => {
    const { act, phases } = await world(paid, [payin()]);
    await act();
    assert.deepEqual(await phases(), ['confirmed']);
  });

  it('fails, to be tried again, while the chain shows no such transfer', async () => {
    const { act } = await world(unpaid, []);
    await assert.rejects(act(), /shows no transfer/);
  });
});

async function world(history: typeof paid, transfers: readonly Transfer[]) {
  const { start, clock } = processes();
  const handle = start();
  await accepted(handle(paymentDecider, paymentId, () => history, { cause: 'worker:test', appId: null }));
  const ingester = { chainId: 8453, lookUp: async () => transfers } as Partial<Ingester> as Ingester;
  const worker = parkedPayinsWorker({ handle, clock, ingester, due: async () => [item] });
  return {
    act: () => worker.act(item, signal),
    phases: async () => (await currentState(handle, paymentDecider, paymentId))?.payins.map(({ phase }) => phase),
  };
}
