/** Answers of each kind of stream about a foreign transfer, or about one that another stream decides. */
import assert from 'node:assert/strict';
import { batchLeg } from '../../../domain/batch/batch.ts';
import { type Decision, fold, isRefusal } from '../../../domain/decider.ts';
import { payoutLeg, refundLeg } from '../../../domain/payment/payout.ts';
import { paymentDecider } from '../../../domain/payment/state.ts';
import type { ChainLegOwner, LegOwner } from '../../../domain/transfer/owner.ts';
import { operationLeg } from '../../../domain/treasury/operation.ts';
import { unmatchedRefundLeg } from '../../../domain/unmatched.ts';
import * as p from '../../support/payments.ts';

const attempt = p.attempt(1);
const outcome = p.final(p.landed(attempt));
const now = p.minute(9);

const answer = (decision: Decision<unknown>): string =>
  isRefusal(decision) ? `${decision.refused}: ${decision.message}` : `${decision.length} events`;

function answersOf<S>(leg: ChainLegOwner<S, unknown> & Partial<LegOwner<S, unknown>>, state: S) {
  const verbs: Record<string, Decision<unknown> | undefined> = {
    sign: leg.sign(state, 1, attempt),
    bury: leg.bury(state, 1, [1], p.nonceUsed),
    conclude: leg.conclude(state, 1, outcome, now),
    orphan: leg.orphan(state, 1, p.landed(attempt)),
    accept: leg.accept?.(state, 1, 'it is there', now),
    retry: leg.retry?.(state, 1, 'it was not', now),
  };
  return Object.entries(verbs).flatMap(([verb, decision]) => (decision ? [`${verb}: ${answer(decision)}`] : []));
}

const verbs = ['sign', 'bury', 'conclude', 'orphan', 'accept', 'retry'];
const allSay = (said: string, of = verbs) => of.map((verb) => `${verb}: ${said}`);

describe('a transfer that its stream does not owe', () => {
  it('is refused by every verb, in the words of its stream', () => {
    const paid = fold(paymentDecider, p.paid);
    const noRefund = 'illegalStep: no such refund is ordered for this payment';
    const noUnmatched = 'illegalStep: no refund of this money is ordered that the service sends';
    assert.deepEqual(answersOf(refundLeg, null), allSay(noRefund));
    assert.deepEqual(answersOf(refundLeg, paid), allSay(noRefund));
    assert.deepEqual(answersOf(unmatchedRefundLeg, null), allSay(noUnmatched));
  });

  it('is neither accepted nor retried if its chain alone decides', () => {
    const chains = verbs.slice(0, 4);
    const noOperation = 'notFound: no operation has this id: list them with npm run treasury -- operations';
    assert.deepEqual(answersOf(operationLeg, null), allSay(noOperation, chains));
    assert.deepEqual(answersOf(batchLeg, null), allSay('notFound: no batch has this id', chains));
  });

  it('leaves nothing to cancel if it is a payout', () => {
    const noPayout = 'illegalStep: no payout is ordered for this payment';
    const expected = allSay(noPayout).with(verbs.indexOf('orphan'), 'orphan: 0 events');
    assert.deepEqual(answersOf(payoutLeg, null), expected);
    assert.deepEqual(answersOf(payoutLeg, fold(paymentDecider, p.paid)), expected.with(5, 'retry: 0 events'));
  });
});

describe('a payout in a batch', () => {
  it('gets attempts and a fate only from its batch; an operator may still decide about it', () => {
    const batched = p.event('PayoutBatched', { batch: 'batch-1', position: 1, batchedAt: now });
    const ofBatch = 'illegalStep: this payout is paid with others: what becomes of batch batch-1 becomes of it';
    assert.deepEqual(answersOf(payoutLeg, fold(paymentDecider, [...p.ordered, batched])), [
      ...allSay(ofBatch, ['sign', 'bury', 'conclude']),
      'orphan: 0 events',
      'accept: illegalStep: no transfer of this fell short: there is nothing to accept',
      'retry: 0 events',
    ]);
  });
});
