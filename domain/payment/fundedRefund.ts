/**
 * Refunds of money that was paid out. The service does not hold it any more, so the app pays it again: by a payment of its own, whose payout
 * goes to the payer. That payment pays out only what it received, so no other payment's money can fund the refund.
 */
import type { ChainId } from '../chains.ts';
import { type Decision, type Refusal, refuse } from '../decider.ts';
import { formatAmount, smaller, unitsText } from '../money.ts';
import { type Instant, minute_ms } from '../time.ts';
import type { PaymentEvent, TokenRef } from './events.ts';
import { type KnownSigner, provenReceiver } from './refundOrder.ts';
import { isSameAsset, sumOf } from './sources.ts';
import type { FundedRefund, Payment, PaymentState } from './state.ts';

export type { FundedRefund };

/** The funding payment is created within half of this time, or never: then the refund ends without it. */
export const givenUpAfter_ms = 10 * minute_ms;

/** Maximum funded refunds of one payment. */
export const fundedRefundsMax = 20;

/** Part of the paid out money that can still be refunded to a sender. */
export interface Fundable {
  readonly sender: string;
  /** A transfer of the sender that paid. */
  readonly transferId: string;
  readonly chainId: ChainId;
  readonly token: TokenRef;
  readonly amount: bigint;
}

/** Refunds to a sender never exceed what they paid, and all together never exceed the price. Empty before the payment is completed. */
export function fundable(p: Payment): readonly Fundable[] {
  const { funded, terms, payout, closed } = p;
  if (!funded || funded.rule === 'cashback' || closed || !payout?.settled || terms.refundOf) return [];
  const { chainId, token } = terms.source;
  const paid = p.payins.filter(({ id, phase }) => phase === 'confirmed' && funded.transferIds.includes(id));
  const left = funded.received - funded.excess - takenOf(p.fundedRefunds);
  return [...Map.groupBy(paid, ({ transfer }) => transfer.from)].flatMap(([sender, own]) => {
    const taken = takenOf(p.fundedRefunds.filter(({ proof }) => proof.sender === sender));
    const amount = smaller(sumOf(own) - taken, left);
    const [first] = own;
    return first && amount > 0n ? [{ sender, transferId: first.id, chainId, token, amount }] : [];
  });
}

const takenOf = (refunds: readonly FundedRefund[]): bigint =>
  refunds.reduce((sum, { amount, ended }) => sum + (ended?.outcome === 'unpaid' ? 0n : amount), 0n);

/** The refund that waits for its funding; undefined without one. */
export const openFundedRefund = ({ fundedRefunds }: Pick<Payment, 'fundedRefunds'>): FundedRefund | undefined =>
  fundedRefunds.find(({ ended }) => ended === null);

export interface FundedRefundOrder {
  readonly sender: string;
  /** Amount that the sender gets, in the smallest units of the token that they paid with. */
  readonly amount: bigint;
  readonly signers: readonly KnownSigner[];
  readonly note: string | null;
  /** Idempotency key. */
  readonly key: string;
  /** Id of the funding payment for the refund with this number. */
  readonly fundingIdOf: (refund: number) => string;
}

/** Orders a refund that waits for its funding. One at a time, so nobody pays two links for one refund. */
export function orderFundedRefund(p: PaymentState, order: FundedRefundOrder, now: Instant): Decision<PaymentEvent> {
  if (!p) return refuse('paymentNotFound', 'there is no such payment');
  const { sender, amount, note, key } = order;
  const former = p.fundedRefunds.find(({ requestKey }) => requestKey === key);
  if (former) return former.proof.sender === sender && former.amount === amount ? [] : otherRefund;
  const unfit = notFundable(p) ?? waitsAlready(p);
  if (unfit) return unfit;
  const own = fundable(p).find((each) => each.sender === sender);
  if (!own) return refuse('conflict', 'all that this sender paid is refunded', '/sender');
  if (amount <= 0n) return refuse('invalidRequest', 'must be more than 0', '/amount');
  if (amount > own.amount)
    return refuse(
      'invalidRequest',
      `at most ${formatAmount(own.amount, own.token.decimals)} is left to refund`,
      '/amount',
    );
  const proven = provenReceiver(p, own, sender, order.signers, now);
  if (!proven)
    return refuse(
      'refundAddressUnproven',
      'nobody has proven where this sender’s money goes back to: send the payer the payment’s page, or confirm an address',
      '/sender',
    );
  const { receiver, proof } = proven;
  const refund = p.fundedRefunds.length + 1;
  return [
    {
      type: 'FundedRefundOrdered',
      data: {
        refund,
        fundingPaymentId: order.fundingIdOf(refund),
        chainId: own.chainId,
        token: own.token,
        receiverAddress: receiver.address,
        receiverMemo: receiver.memo,
        amount: unitsText(amount),
        proof,
        requestKey: key,
        ...(note !== null && { note }),
        requestedAt: now,
      },
    },
  ];
}

const otherRefund = refuse(
  'orderConflict',
  'this idempotency key was used for another refund: use a new key',
  '/idempotencyKey',
);

function notFundable(p: Payment): Refusal | undefined {
  if (p.terms.refundOf) return refuse('illegalStep', 'this payment is itself a refund: it cannot be refunded again');
  if (p.closed || !p.payout?.settled || p.funded?.rule === 'cashback')
    return refuse('illegalStep', 'only a completed payment is refunded with new money: refund what is held instead');
  if (p.fundedRefunds.length >= fundedRefundsMax)
    return refuse('conflict', `a payment has at most ${fundedRefundsMax} refunds of this kind: ask the operator`);
  return undefined;
}

function waitsAlready(p: Payment): Refusal | undefined {
  const open = openFundedRefund(p);
  return open && refuse('conflict', `refund ${open.refund} still waits for its funding: pay or cancel that one first`);
}

/** Records the end of the funding payment. A repeated report changes nothing. */
export function endFundedRefund(
  p: PaymentState,
  ended: { readonly refund: number; readonly outcome: 'paid' | 'unpaid'; readonly now: Instant },
): Decision<PaymentEvent> {
  const known = p?.fundedRefunds.find(({ refund }) => refund === ended.refund);
  if (!known) return refuse('illegalStep', 'the payment has no such refund');
  if (known.ended?.outcome === ended.outcome) return [];
  if (known.ended) return refuse('illegalStep', `refund ${known.refund} has ended as ${known.ended.outcome}`);
  const { refund, outcome, now } = ended;
  return [{ type: 'FundedRefundEnded', data: { refund, outcome, endedAt: now } }];
}

/** End of a funding payment; null while it can still pay its refund. It has no policy, so late money never reopens it. */
export function fundingOutcome({ payout, closed }: Pick<Payment, 'payout' | 'closed'>): 'paid' | 'unpaid' | null {
  if (closed) return 'unpaid';
  return payout?.settled ? 'paid' : null;
}

/**
 * Returns why a payment may not pay out the refund that its terms name; undefined if it may. An attacker who can append to the log could name
 * any receiver, so the refunded payment's own stream must have ordered exactly this, to an address of its sender.
 *
 * @param refunded the payment that `refundOf` names
 */
export function objectionToFunding(funding: Payment, refunded: PaymentState): string | undefined {
  const { paymentId, appId, refundOf, type, destination } = funding.terms;
  if (!refundOf) return undefined;
  if (!refunded || refunded.terms.paymentId !== refundOf.paymentId)
    return `payment ${paymentId} refunds ${refundOf.paymentId}, which does not exist`;
  const order = refunded.fundedRefunds.find(({ refund }) => refund === refundOf.refund);
  if (order?.fundingPaymentId !== paymentId || refunded.terms.appId !== appId)
    return `payment ${refundOf.paymentId} has ordered no refund ${refundOf.refund} from payment ${paymentId}`;
  const isOrdered =
    type === 'exactOut' &&
    isSameAsset(destination, order) &&
    destination.amount === unitsText(order.amount) &&
    destination.receiverAddress === order.receiverAddress &&
    destination.receiverMemo === order.receiverMemo;
  if (!isOrdered) return `payment ${paymentId} pays another receiver or amount than refund ${refundOf.refund} names`;
  if (order.ended?.outcome === 'unpaid') return `refund ${refundOf.refund} has ended without this payment`;
  if (!isProven(refunded, order)) return `refund ${refundOf.refund} goes to an address that its sender has not proven`;
  const price = (refunded.funded?.received ?? 0n) - (refunded.funded?.excess ?? 0n);
  if (takenOf(refunded.fundedRefunds) > price) return `the refunds of payment ${refundOf.paymentId} exceed its price`;
  return undefined;
}

function isProven(p: Payment, { proof, receiverAddress, receiverMemo, requestedAt }: FundedRefund): boolean {
  const isReceiver = ({ address, memo }: { readonly address: string; readonly memo: string | null }) =>
    address === receiverAddress && memo === receiverMemo;
  if (proof.by === 'credit') return receiverAddress === proof.sender && receiverMemo === null;
  if (proof.by === 'merchant')
    return p.confirmedAddresses.some(
      (each) => each.sender === proof.sender && isReceiver(each) && each.effectiveAt <= requestedAt,
    );
  // A later signature replaces the address in the state, so the ordered receiver may be a former one.
  return p.refundAddresses.some((each) => each.proof?.sender === proof.sender);
}
