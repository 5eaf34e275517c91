/** Payouts that their receivers cannot receive: given up after a waiting time, and never while one could land. */
import assert from 'node:assert/strict';
import { currentState } from '../../../commands/handle.ts';
import { nothingToProve, PayoutBlocked, type TransferOrder, type Unsigned } from '../../../commands/transferPorts.ts';
import type { PaymentEvent } from '../../../domain/payment/events.ts';
import { type Payment, paymentDecider, refundable } from '../../../domain/payment/state.ts';
import { plus } from '../../../domain/time.ts';
import { impossibleWorker } from '../../../src/workers/payouts/fate.ts';
import { payoutOwner } from '../../../src/workers/payouts/owners.ts';
import { died, held, merchantWallet, minute, ordered, sent, terms, treasuryAccount } from '../../support/payments.ts';
import { fakeNumbering } from '../../support/payouts.ts';
import { accepted, processes } from '../../support/processes.ts';

const { paymentId, appId } = terms();
const { signal } = new AbortController();
const hour = 3_600_000;
const frozen = new PayoutBlocked('refusedByToken', 'USDC on Ethereum refuses the receiver: blacklisted');

/** A payment whose receiver the token has refused for 72 hours, by the list of waiting payouts. */
async function world(history: readonly PaymentEvent[] = ordered) {
  const { start, clock, time } = processes({ now: minute(20) });
  const handle = start();
  await accepted(handle(paymentDecider, paymentId, () => history, { cause: 'operator:test', appId }));
  const around = {
    refuses: new Map<string, PayoutBlocked>([[merchantWallet, frozen]]),
    asked: [] as string[],
    since: '',
    alarms: [] as string[],
  };
  const transfers = {
    prepareCancel: () => assert.fail('nothing is cancelled'),
    async prepare(order: TransferOrder, nonce: bigint | null): Promise<Unsigned> {
      around.asked.push(order.receiver);
      const refused = around.refuses.get(order.receiver);
      if (refused) throw refused;
      return { chainId: 1, account: treasuryAccount, nonce, order, validUntil: null, fee: {}, payload: null };
    },
  };
  const rail = { account: treasuryAccount, numbering: fakeNumbering({ minedNonce: () => 7n }, transfers) };
  const worker = impossibleWorker({
    handle,
    clock,
    owners: { payout: payoutOwner({ handle, clock, proveFunding: async () => nothingToProve }) },
    rails: new Map([[1, rail]]),
    after_ms: 72 * hour,
    async refusedSince(since) {
      around.since = since;
      return [{ paymentId, chainId: 1 }];
    },
    alarm: (_, message) => void around.alarms.push(message),
  });
  const run = async () => {
    for (const item of await worker.due(10, clock.now())) await worker.act(item, signal);
  };
  const payment = async () => (await currentState(handle, paymentDecider, paymentId)) as Payment;
  const pass = (duration_ms: number) => Object.assign(time, { now: plus(time.now, duration_ms) });
  return { around, run, payment, pass };
}

describe('a payout that its receiver cannot receive', () => {
  it('is given up: its payment bounces with the chain’s reason, and its money can be refunded', async () => {
    const { around, run, payment } = await world();
    await run();
    const bounced = await payment();
    assert.partialDeepStrictEqual(bounced.closed, { kind: 'bounced', code: 'payoutImpossible' });
    assert.deepEqual(
      refundable(bounced).map(({ reason, amount }) => [reason, amount]),
      [['bounced', 10_010_000n]],
    );
    assert.deepEqual([around.alarms.length, around.since], [1, plus(minute(20), -72 * hour)]);
    await run();
    assert.equal(around.alarms.length, 1);
  });

  it('continues if the chain would accept it now, and is checked again an hour later', async () => {
    const { around, run, payment, pass } = await world();
    around.refuses.clear();
    await run();
    await run();
    assert.deepEqual([around.asked.length, (await payment()).closed], [1, null]);
    pass(hour);
    await run();
    assert.equal(around.asked.length, 2);
  });

  it('continues if the token refuses the treasury too: that is not the receiver’s fault', async () => {
    const { around, run, payment } = await world();
    around.refuses.set(treasuryAccount, frozen);
    await run();
    assert.equal((await payment()).closed, null);
  });

  it('continues if something else is in the way', async () => {
    for (const reason of ['float', 'gas', 'formUnknown'] as const) {
      const { around, run, payment } = await world();
      around.refuses.set(merchantWallet, new PayoutBlocked(reason, 'add some'));
      await run();
      assert.equal((await payment()).closed, null);
    }
  });

  it('continues while an attempt can land or an operator holds it; not once all are proven dead', async () => {
    for (const history of [sent, [...ordered, held()]]) {
      const { around, run, payment } = await world(history);
      await run();
      assert.deepEqual([around.asked, (await payment()).closed], [[], null]);
    }
    const { run, payment } = await world([...sent, died()]);
    await run();
    assert.equal((await payment()).closed?.kind, 'bounced');
  });
});
