/** The transfers that a payment owes: its payout and its refunds. */
import { referenceOf } from '../transfer/key.ts';
import { newLeg } from '../transfer/leg.ts';
import type { Owed } from '../transfer/owed.ts';
import { stepOf } from '../transfer/step.ts';
import { lostBacking } from './backing.ts';
import { lostFunding } from './counting.ts';
import type { Payment } from './state.ts';

export const owedBy = (p: Payment): readonly Owed[] => {
  const payout = payoutOwed(p);
  return [...(payout ? [payout] : []), ...refundsOwed(p)];
};

/** Undefined before the payment is funded. What is funded is owed, ordered or not. */
export function payoutOwed(p: Payment): Owed | undefined {
  if (!p.funded) return undefined;
  const { paymentId: id, appId, destination } = p.terms;
  const { chainId, token, receiverAddress: receiver, receiverMemo } = destination;
  const leg = p.payout ?? newLeg({ chainId, token, receiver, receiverMemo, amount: p.funded.payout });
  const isHeld = lostFunding(p) || p.payoutHeld !== null;
  const step = p.closed ? ({ do: 'done' } as const) : p.batch && !leg.settled ? batched : stepOf(leg, isHeld);
  const due = step.do === 'sign' && !p.payout ? ({ do: 'order' } as const) : step;
  const key = { kind: 'payout', id, part: 1 } as const;
  return { key, purpose: { kind: 'payout', reference: referenceOf(key) }, appId, leg, step: due };
}

/** Its own single step waits for the batch. */
const batched = { do: 'batched' } as const;

const refundsOwed = (p: Payment): readonly Owed[] =>
  p.refunds.map((leg) => {
    const key = { kind: 'refund', id: p.terms.paymentId, part: leg.refund } as const;
    const purpose = { kind: 'refund', reference: referenceOf(key) } as const;
    const step = leg.calledOff === null ? stepOf(leg, lostBacking(p, leg)) : ({ do: 'done' } as const);
    return { key, purpose, appId: p.terms.appId, leg, step };
  });
