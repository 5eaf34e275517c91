import assert from 'node:assert/strict';
import { isRefusal } from '../../../domain/decider.ts';
import { transferId } from '../../../domain/payment/events.ts';
import { paymentDecider } from '../../../domain/payment/state.ts';
import { assign, requestRefund, see, unmatched } from '../../../domain/unmatched.ts';
import { acceptRefund, buryRefund, callOffRefund, retryRefund } from '../../../src/workers/payouts/byHand.ts';
import { refundOwner, unmatchedRefundOwner } from '../../../src/workers/payouts/owners.ts';
import {
  bounced,
  confirmed,
  customerWallet,
  minute,
  payin,
  refundAttempt,
  refundRequested,
  terms,
  treasuryAccount,
  unpaid,
} from '../../support/payments.ts';
import { accepted, processes } from '../../support/processes.ts';

const { paymentId } = terms();
const { signal } = new AbortController();
const by = { cause: 'operator:ada' } as const;
const key = { kind: 'refund', id: paymentId, part: 1 } as const;
const said = { key, reason: 'its address is frozen' };
const attempt = refundAttempt(1, '3.00');

async function world() {
  const { start, clock, store, typesIn } = processes({ now: minute(80) });
  const handle = start();
  const history = [
    ...unpaid,
    confirmed(payin({ amount: '3.00' })),
    bounced('amountTooLow', '3.00'),
    refundRequested('3.00'),
  ];
  await accepted(handle(paymentDecider, paymentId, () => history, { cause: 'worker:payins', appId: null }));
  const owner = refundOwner({ handle: start(), clock, proveFunding: async () => async () => {} });
  return { deps: { handle, clock }, owner, store, types: () => typesIn(`payment-${paymentId}`) };
}

const refusal = async (answer: Promise<unknown>) => {
  const outcome = await answer;
  return isRefusal(outcome) ? outcome.refused : 'none';
};

describe('an operator', () => {
  it('calls off a refund that cannot be sent; a worker that is about to sign it then does not', async () => {
    const { deps, owner, store } = await world();
    assert.equal((await owner.load(key))?.step.do, 'sign');
    await accepted(callOffRefund(deps, said, by));
    assert.equal((await store.read(`payment-${paymentId}`)).at(-1)?.metadata.cause, 'operator:ada');
    assert.equal(await refusal(owner.sign(key, attempt)), 'illegalStep');
    assert.equal((await owner.load(key))?.step.do, 'done');
    assert.equal((await accepted(callOffRefund(deps, said, by))).appended, 0);
  });

  it('calls off none that was signed a moment before, and none that does not exist', async () => {
    const { deps, owner, types } = await world();
    await accepted(owner.sign(key, attempt));
    assert.equal(await refusal(callOffRefund(deps, said, by)), 'illegalStep');
    assert.equal(await refusal(callOffRefund(deps, { ...said, key: { ...key, part: 2 } }, by)), 'illegalStep');
    assert.equal(await refusal(callOffRefund(deps, { ...said, key: { ...key, id: 'none' } }, by)), 'paymentNotFound');
    assert.equal((await types()).at(-1), 'RefundSigned');
  });

  it('has a refund continue that brought nothing, or counts it as sent', async () => {
    const { deps, owner } = await world();
    await accepted(owner.sign(key, attempt));
    const landed = { attempt: 1, hash: attempt.hash, blockNumber: 9n, blockHash: '0x09' };
    await accepted(owner.conclude(key, { ...landed, kind: 'short', arrived: 0n }));
    assert.equal(await refusal(callOffRefund(deps, said, by)), 'illegalStep');
    await accepted(retryRefund(deps, said, by));
    assert.equal((await owner.load(key))?.step.do, 'sign');
    assert.equal(await refusal(acceptRefund(deps, said, by)), 'illegalStep');
  });
});

const transfer = { ...payin({ amount: '3.00' }), memo: 'of nobody' };
const money = { kind: 'unmatchedRefund', id: transferId(transfer), part: 1 } as const;
const decided = { key: money, reason: 'its address is frozen' };
const toCustomer = { receiverAddress: customerWallet, receiverMemo: null, reason: 'a gift', networkFee: 0n };

/** Unmatched money that goes back to the customer. */
async function unmatchedWorld() {
  const { start, clock, typesIn } = processes({ now: minute(80) });
  const handle = start();
  const around = { canLand: false };
  const facts = { ...by, appId: null };
  await accepted(handle(unmatched, money.id, (state) => see(state, transfer, minute(79)), facts));
  const orderTo = (receiverAddress: string) =>
    accepted(
      handle(
        unmatched,
        money.id,
        (state) => requestRefund(state, { ...toCustomer, receiverAddress }, minute(80)),
        facts,
      ),
    );
  await orderTo(customerWallet);
  const rail = { canLand: async () => around.canLand, fate: async () => ({ kind: 'pending', mined: true }) as const };
  const owner = unmatchedRefundOwner({ handle: start(), clock, proveMoney: async () => async () => {} });
  const deps = { handle, clock, railOf: () => rail };
  const give = () =>
    handle(unmatched, money.id, (state) => assign(state, { paymentId, appId: 'shop' }, minute(81)), facts);
  return { deps, owner, orderTo, give, around, types: () => typesIn(`unmatched-${money.id}`) };
}

describe('an operator, for unmatched money', () => {
  it('calls its refund off, and orders another: a signature that was about to be made for the first is not recorded for it', async () => {
    const { deps, owner, orderTo } = await unmatchedWorld();
    assert.equal((await owner.load(money))?.step.do, 'sign');
    await accepted(callOffRefund(deps, decided, by));
    assert.equal((await accepted(callOffRefund(deps, decided, by))).appended, 0);
    assert.equal((await owner.load(money))?.step.do, 'done');
    await orderTo(customerWallet);
    assert.equal(await refusal(owner.sign(money, attempt)), 'illegalStep');
    const next = { ...money, part: 2 };
    assert.equal((await owner.load(next))?.order.reference, `unmatched-${money.id}/refund-2`);
    await accepted(owner.sign(next, attempt));
    assert.equal(await refusal(callOffRefund(deps, { ...decided, key: next }, by)), 'illegalStep');
  });

  it('assigns it to a payment after that, unless anything was signed for its refund', async () => {
    const nothingSigned = await unmatchedWorld();
    await accepted(callOffRefund(nothingSigned.deps, decided, by));
    await accepted(nothingSigned.give());
    const signed = await unmatchedWorld();
    await accepted(signed.owner.sign(money, attempt));
    await accepted(buryRefund(signed.deps, decided, by, signal));
    await accepted(callOffRefund(signed.deps, decided, by));
    assert.equal(await refusal(signed.give()), 'illegalStep');
    await signed.orderTo(treasuryAccount);
    assert.equal((await signed.types()).at(-1), 'UnmatchedPayinRefundRequested');
  });

  it('buries an attempt that no node remembers, and none that can land or does not exist', async () => {
    const { deps, owner, around, types } = await unmatchedWorld();
    assert.equal(await refusal(buryRefund(deps, decided, by, signal)), 'illegalStep');
    await accepted(owner.sign(money, attempt));
    around.canLand = true;
    assert.equal(await refusal(buryRefund(deps, decided, by, signal)), 'illegalStep');
    around.canLand = false;
    await accepted(buryRefund(deps, decided, by, signal));
    assert.equal((await types()).at(-1), 'UnmatchedRefundDied');
    assert.equal((await owner.load(money))?.step.do, 'sign');
    assert.equal(
      await refusal(buryRefund(deps, { ...decided, key: { ...money, id: 'none' } }, by, signal)),
      'notFound',
    );
    const nowhere = { ...deps, railOf: () => undefined };
    assert.equal(await refusal(buryRefund(nowhere, decided, by, signal)), 'invalidRequest');
  });

  it('has one continue that brought nothing, and counts one as sent that they pay themselves', async () => {
    const { deps, owner } = await unmatchedWorld();
    await accepted(owner.sign(money, attempt));
    const landed = { attempt: 1, hash: attempt.hash, blockNumber: 9n, blockHash: '0x09' };
    await accepted(owner.conclude(money, { ...landed, kind: 'short', arrived: 1n }));
    assert.equal(await refusal(retryRefund(deps, decided, by)), 'illegalStep');
    assert.equal(await refusal(callOffRefund(deps, decided, by)), 'illegalStep');
    await accepted(acceptRefund(deps, decided, by));
    assert.equal((await owner.load(money))?.leg.settled?.hash, attempt.hash);
  });
});
