/** Money that funds a transfer of the payment. */
import { isListed } from '../chains.ts';
import { isRefusal, type Refusal, refuse } from '../decider.ts';
import { convertUp, larger } from '../money.ts';
import type { Instant } from '../time.ts';
import {
  canLand,
  newLeg,
  type Order,
  type Owed,
  stepOf,
  type TransferLeg,
  type TransferStep,
} from '../transfer/leg.ts';
import { referenceOf } from '../transfer/shapes.ts';
import type { Transfer } from './events.ts';
import { type Asset, type Funding, familyOf, isSameAsset, lostFunding, type Payin, sumOf } from './sources.ts';
import type { Payment, PaymentState, Refund } from './state.ts';

export interface Backing {
  /** Payins of one chain and token, in the catalogue's decimals. */
  readonly payins: readonly Payin[];
  /** Sum that the payins must reach, in the token's smallest units. Always above zero. */
  readonly needed: bigint;
}

/**
 * Returns the payins that funded the payment, or null for a withdrawal of cashback, which no payin funds. Refuses an order that does not
 * follow from the terms and the payins: the log may be forged.
 */
export function payoutBacking(p: Payment, order: Order): Backing | null | Refusal {
  const { terms, funded } = p;
  const { source, destination } = terms;
  if (!funded) return unbacked('the payment is not funded');
  if (!isListed(source) || !isListed(destination))
    return unbacked('its terms name a token that the catalogue does not have, or other decimals than the token has');
  if (!isDue(order, p, funded))
    return unbacked('the ordered payout is not the one that the terms and the funding name');
  if (paidOut(p, funded) + funded.excess > funded.received || funded.excess < 0n)
    return unbacked(`it pays out more than the ${funded.received} units that it received`);
  if (funded.rule === 'cashback') return null;
  const { transferIds, received } = funded;
  const funding = p.payins.filter(({ id, transfer }) => transferIds.includes(id) && isSameAsset(transfer, source));
  if (received <= 0n || funding.length !== transferIds.length || sumOf(funding) !== received)
    return unbacked(
      `the log shows ${sumOf(funding)} of ${received} units that it is paid from, in ${funding.length} of ${transferIds.length} transfers`,
    );
  const returned = returnedOf(p, source);
  if (returned === 0n) return checked({ payins: funding, needed: received });
  return checked({ payins: confirmedOf(p, source), needed: returned + received - funded.excess });
}

/** Returns all payins of a refund's asset: they must cover all refunds and the payout of that asset. */
export function refundBacking(p: Payment, asset: Asset): Backing | Refusal {
  return checked({ payins: confirmedOf(p, asset), needed: returnedOf(p, asset) + paidOutFrom(p, asset) });
}

function checked({ payins, needed }: Backing): Backing | Refusal {
  const forged = payins.map(({ transfer }) => forgeryIn(transfer)).find((why) => why !== undefined);
  if (forged !== undefined) return unbacked(forged);
  if (needed <= 0n || sumOf(payins) < needed)
    return unbacked(`the log shows ${sumOf(payins)} of ${needed} units that it is paid from`);
  return { payins, needed };
}

/**
 * Returns why no chain can return this transfer as written; undefined if one can. Nodes return neither a token's decimals nor a hash's
 * letter case, so their agreement proves neither.
 */
export function forgeryIn(transfer: Transfer): string | undefined {
  const { chainId, txHash, token } = transfer;
  if (!isListed(transfer))
    return `payin ${txHash} names ${token.address} with ${token.decimals} decimals, which the catalogue does not have`;
  if (familyOf({ chainId }) !== 'solana' && txHash !== txHash.toLowerCase())
    return `payin ${txHash} is not named by its hash in small letters: it could count twice`;
  return undefined;
}

/** True if a payout goes to the terms' receiver, once, with the whole payout of the funding. */
function isDue(order: Order, { terms: { destination } }: Payment, { payout }: Funding): boolean {
  return (
    isSameAsset(order, destination) &&
    order.token.decimals === destination.token.decimals &&
    order.receiver === destination.receiverAddress &&
    order.receiverMemo === destination.receiverMemo &&
    order.form === undefined &&
    order.amount === payout &&
    payout > 0n
  );
}

/** In source units, rounded up. */
const paidOut = ({ terms: { source, destination } }: Payment, { payout }: Funding): bigint =>
  convertUp(payout, destination.token, source.token);

const confirmedOf = (p: Payment, asset: Asset): readonly Payin[] =>
  p.payins.filter(({ phase, transfer }) => phase === 'confirmed' && isSameAsset(transfer, asset));

/** A negative amount would make room for another refund. */
const returnedOf = (p: Payment, asset: Asset): bigint =>
  p.refunds
    .filter((refund) => isSameAsset(refund.order, asset) && (refund.calledOff === null || mayHaveMoved(refund)))
    .reduce((sum, { order, networkFee }) => sum + larger(order.amount, 0n) + larger(networkFee, 0n), 0n);

function paidOutFrom(p: Payment, asset: Asset): bigint {
  const { terms, funded, closed, payout } = p;
  if (!funded || funded.rule === 'cashback' || !isSameAsset(terms.source, asset)) return 0n;
  if (closed && !(payout && mayHaveMoved(payout))) return 0n;
  return larger(funded.received - funded.excess, paidOut(p, funded));
}

/** A forged bounce or call-off after the signature proves nothing: the signed bytes can still move the money. */
const mayHaveMoved = ({ attempts }: TransferLeg): boolean =>
  attempts.some((attempt) => canLand(attempt) || attempt.fate === 'short');

const unbacked = (why: string): Refusal => refuse('forbidden', why);

/** The refund's money is gone, so nothing new is signed for it. Signed bytes can still land. */
export const lostBacking = (p: Payment, { order }: Pick<Refund, 'order'>): boolean =>
  isRefusal(refundBacking(p, order));

// Transfers that a payment owes: its payout and its refunds.

export const owedBy = (p: Payment): readonly Owed[] => {
  const payout = payoutOwed(p);
  return [...(payout ? [payout] : []), ...refundsOwed(p)];
};

/** Undefined before the payment is funded. A funded payment owes its payout, ordered or not. */
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

/** The payment's own leg waits for the batch. */
const batched = { do: 'batched' } as const;

const refundsOwed = (p: Payment): readonly Owed[] =>
  p.refunds.map((leg) => {
    const key = { kind: 'refund', id: p.terms.paymentId, part: leg.refund } as const;
    const purpose = { kind: 'refund', reference: referenceOf(key) } as const;
    const step = leg.calledOff === null ? stepOf(leg, lostBacking(p, leg)) : ({ do: 'done' } as const);
    return { key, purpose, appId: p.terms.appId, leg, step };
  });

/** Next step that the process owes the payment; refunds are separate (owed.ts). Workers only execute it. */
export type Step =
  | { readonly do: 'wait'; readonly until: Instant }
  /** Not funded in time: expires once the chain's final scan has passed expiresAt. */
  | { readonly do: 'expire' }
  | TransferStep;

/** Pure: equal state and time give an equal step. */
export function nextStep(p: PaymentState, now: Instant): Step {
  if (!p || p.closed) return { do: 'done' };
  const { expiresAt } = p.terms;
  return payoutOwed(p)?.step ?? (now <= expiresAt ? { do: 'wait', until: expiresAt } : { do: 'expire' });
}
