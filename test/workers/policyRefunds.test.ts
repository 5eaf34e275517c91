/** Refunds by an app's policy are ordered automatically once the sender has proven an address. */
import assert from 'node:assert/strict';
import { currentState } from '../../commands/handle.ts';
import { createRefunds } from '../../commands/refunds.ts';
import { credit } from '../../domain/credit.ts';
import type { AmountPolicy } from '../../domain/payment/amountPolicy.ts';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import { recordPayin } from '../../domain/payment/payins.ts';
import { policyRefundsDue } from '../../domain/payment/policy.ts';
import { type Payment, paymentDecider } from '../../domain/payment/state.ts';
import { hour_ms, plus } from '../../domain/time.ts';
import { familyAddresses } from '../../src/chains/families.ts';
import { policyRefundsWorker } from '../../src/workers/refunds/policyRefunds.ts';
import { creditSpent } from '../support/creditSpent.ts';
import { created, customerWallet, minute, of, payin, refundAddressSet, terms } from '../support/payments.ts';
import { accepted, processes } from '../support/processes.ts';

const { paymentId, appId } = terms();
const { signal } = new AbortController();

/** An overpaid payment. */
async function world(received = '12.01', policy: Partial<AmountPolicy> = { over: 'refund' }) {
  const { start, clock, time } = processes({ now: minute(80) });
  const around = { cost_microUsd: 50_000n, asked: 0 };
  const add = (handle: ReturnType<typeof start>, ...events: readonly PaymentEvent[]) =>
    accepted(handle(paymentDecider, paymentId, () => events, { cause: 'operator:test', appId }));
  const handle = start();
  await add(handle, created({ policy }));
  const seen = { transfer: payin({ amount: received }), final: true, now: minute(6) };
  await accepted(handle(paymentDecider, paymentId, (p) => recordPayin(p, seen), { cause: 'operator:test', appId }));
  const instance = (own = start()) => {
    const payoutCostOf = async () => {
      around.asked += 1;
      return { cost_microUsd: around.cost_microUsd, least_microUsd: 0n };
    };
    const deps = { handle: own, clock, addresses: familyAddresses, canReceive: {}, payoutCostOf };
    const due = async () => [{ paymentId, proven: policyRefundsDue(await payment()) }];
    const worker = policyRefundsWorker({ clock, refunds: createRefunds(deps), due });
    return async () => {
      for (const item of await worker.due(10, clock.now())) await worker.act(item, signal);
    };
  };
  const payment = async () => (await currentState(start(), paymentDecider, paymentId)) as Payment;
  const back = async () => (await payment()).refunds.map(({ order, networkFee }) => [order.amount, networkFee]);
  const prove = () => add(handle, refundAddressSet());
  /** The sender pays a merchant with their credit, by a signed message. */
  const spend = () =>
    accepted(handle(credit, customerWallet, () => creditSpent(customerWallet), { cause: 'keyless', appId }));
  const pass = () => Object.assign(time, { now: plus(time.now, hour_ms) });
  return { around, instance, payment, back, prove, spend, pass };
}

describe('a refund by policy', () => {
  it('waits until its sender has proven an address, and is ordered once, less the cost of sending it', async () => {
    const { instance, payment, back, prove } = await world();
    const run = instance();
    await run();
    assert.deepEqual([await back(), policyRefundsDue(await payment())], [[], false]);
    await prove();
    assert.equal(policyRefundsDue(await payment()), true);
    await run();
    await run();
    assert.deepEqual(await back(), [[of('1.95'), of('0.05')]]);
    assert.equal(policyRefundsDue(await payment()), false);
    assert.deepEqual((await payment()).refunds[0]?.request.requestedBy, 'policy');
  });

  it('goes automatically to a sender who has paid by credit, with a signature for it', async () => {
    const { instance, back, spend, prove, pass } = await world();
    const run = instance();
    await run();
    assert.deepEqual(await back(), []);
    await spend();
    pass();
    await run();
    assert.deepEqual(await back(), [[of('1.95'), of('0.05')]]);
    await prove();
    await run();
    assert.equal((await back()).length, 1);
  });

  it('is ordered once, though two instances check at the same time', async () => {
    const { instance, back, prove } = await world();
    await prove();
    await Promise.all([instance()(), instance()()]);
    assert.equal((await back()).length, 1);
  });

  it('is not ordered if the policy holds the money', async () => {
    const { instance, back, prove } = await world('12.01', { late: 'refund' });
    await prove();
    await instance()();
    assert.deepEqual(await back(), []);
  });

  it('remains held while sending it costs more, and is checked again an hour later', async () => {
    const { around, instance, back, prove, pass } = await world();
    around.cost_microUsd = 3_000_000n;
    await prove();
    const run = instance();
    await run();
    const { asked } = around;
    await run();
    assert.deepEqual([await back(), around.asked], [[], asked]);
    around.cost_microUsd = 50_000n;
    pass();
    await run();
    assert.equal((await back()).length, 1);
  });
});
