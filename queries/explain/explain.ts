/** Explains a payment's state: its events with the rule and the amounts of each, the next step, and an operator's options. */
import { type DomainEvent, type StoredEvent, unreachable } from '../../domain/decider.ts';
import type { PaymentEvent, PaymentEventData, PaymentEventType } from '../../domain/payment/events.ts';
import { type ChainFacts, type SituationKind, situationOf } from '../../domain/payment/situation.ts';
import { type Payment, type PaymentState, paymentDecider } from '../../domain/payment/state.ts';
import { type PaymentStatus, statusOf } from '../../domain/payment/view.ts';
import type { Instant } from '../../domain/time.ts';
import type { TransferLeg } from '../../domain/transfer/leg.ts';
import { type LegEvent, unprefixed } from '../../domain/transfer/record.ts';
import type { DeathProof } from '../../domain/transfer/shapes.ts';
import { type NextFacts, nameOfChain, nextOf, payinSentences, policySentence, tokenText } from './next.ts';

// One sentence per event of a payment: what happened, by which rule, with which amounts. Contains no payer's address and no secret.

type Sentences = {
  readonly [T in PaymentEventType]?: (data: PaymentEventData<T>, after: Payment) => string;
};

function created({ source, destination, fee, policy, keyless, expiresAt }: PaymentEventData<'PaymentCreated'>): string {
  const due = source.amount === null ? `Any amount of ${source.token.symbol}` : tokenText(source.amount, source.token);
  const paid = destination.amount === null ? 'what the fee leaves' : tokenText(destination.amount, destination.token);
  const charged =
    fee.amount === null
      ? `${tokenText(fee.fixed, source.token)} and ${fee.basisPoints} hundredths of a percent`
      : tokenText(fee.amount, source.token);
  const terms = `It was created ${keyless ? 'without a key' : 'by its app'}. ${due} may be paid on ${nameOfChain(source.chainId)} until ${expiresAt}; ${paid} is paid out on ${nameOfChain(destination.chainId)}; the fee is ${charged}.`;
  return policy ? `${terms} ${policySentence(policy)}` : `${terms} What was not agreed is held.`;
}

const reasons: Readonly<Record<PaymentEventData<'RefundRequested'>['reason'], string>> = {
  bounced: 'what came cannot be paid out',
  excess: 'more than agreed came',
  held: 'it did not count',
};

const askers: Readonly<Record<NonNullable<PaymentEventData<'RefundRequested'>['requestedBy']>, string>> = {
  operator: 'an operator',
  owner: "the app's owner",
  key: 'an API key of the app',
  policy: "the app's policy",
};

const own: Sentences = {
  PaymentCreated: created,
  ...payinSentences,
  PaymentCancelled: ({ expiresAt }) =>
    `The app ended the time to pay early, at ${expiresAt}. A transfer that a block of its chain holds by then still counts.`,
  PaymentAnnotated: ({ tags }) =>
    `The app's people changed the note or the tags (${tags.length === 0 ? 'no tags' : tags.join(', ')}), which only they read.`,
  PayoutRequested: ({ chainId, token, receiverAddress, amount }) =>
    `The payout of ${tokenText(amount, token)} to ${receiverAddress} on ${nameOfChain(chainId)} was ordered.`,
  PayoutBatched: ({ batch, position }) =>
    `The payout is paid together with others, as number ${position} of batch ${batch}: nothing is signed for it by itself until the batch lets it go.`,
  PayoutReleased: ({ batch, reason }) =>
    `Batch ${batch} let the payout go, which is paid by itself from now on: ${reason}`,
  PayoutHeld: ({ reason }) => `An operator put the payout on hold: ${reason}`,
  RefundAddressSet: ({ proof }) =>
    proof
      ? 'A sender has proven where his money goes back to.'
      : 'An address for refunds was set that nothing proves: nothing goes there by itself.',
  RefundAddressConfirmed: ({ effectiveAt }) =>
    `A person of the app confirmed where a sender's money may go back to; refunds can be ordered to it from ${effectiveAt} on.`,
  RefundAddressWithdrawn: () =>
    'A person of the app withdrew a confirmed refund address: nothing more is ordered to it.',
  FundedRefundOrdered: ({ refund, amount, token, chainId, fundingPaymentId }) =>
    `The app refunds ${tokenText(amount, token)} on ${nameOfChain(chainId)} with money of its own (funded refund ${refund}): payment ${fundingPaymentId} funds and pays it.`,
  FundedRefundEnded: ({ refund, outcome }) =>
    outcome === 'paid'
      ? `Funded refund ${refund} was paid to the payer.`
      : `Funded refund ${refund} ended without a payout: its payment was not paid in time, or was cancelled.`,
  RefundRequested: ({ refund, amount, token, chainId, reason, requestedBy, networkFee = '0' }) =>
    `Refund ${refund} of ${tokenText(amount, token)} on ${nameOfChain(chainId)} was ordered${requestedBy ? ` by ${askers[requestedBy]}` : ''}, for ${reasons[reason]}; ${tokenText(networkFee, token)} are taken off for sending it.`,
  RefundCalledOff: ({ refund, reason }) => `An operator called refund ${refund} off: ${reason}`,
};

const proofs: Readonly<Record<DeathProof['reason'], string>> = {
  nonceUsed: 'another transaction took its place on the chain',
  reverted: 'the chain took it up and refused it',
  validityPassed: 'its time is over on the chain',
  declared: 'an operator has found out that it did not land and cannot any more',
};

/** @param name `The payout` or `Refund 1` */
function legSentence(name: string, { type, data }: LegEvent, { order }: TransferLeg): string {
  const { symbol } = order.token;
  switch (type) {
    case 'Signed':
      return `${name}: attempt ${data.attempt} was signed and recorded before it was sent: transaction ${data.hash}${data.nonce === null ? '' : `, nonce ${data.nonce} of ${data.account}`}.`;
    case 'Died':
      return `${name}: attempt ${data.attempt} can never land, which is proven (${data.proof.reason}): ${proofs[data.proof.reason]}. Only therefore another one may be signed.`;
    case 'Confirmed':
      return `${name} is final: transaction ${data.hash} in block ${data.blockNumber} brought all that was ordered.`;
    case 'Orphaned':
      return `${name}: the block of ${data.hash} left the chain; the same bytes are sent again, so that nothing is paid twice.`;
    case 'Short':
      return `${name} landed, and only ${tokenText(data.arrived, order.token)} of ${tokenText(order.amount, order.token)} arrived: nothing more is signed until an operator has decided.`;
    case 'Accepted':
      return `${name}: an operator counts less ${symbol} as all that was ordered: ${data.reason}`;
    case 'Retried':
      return `${name}: an operator had it go on: ${data.reason}`;
    default:
      return unreachable(type);
  }
}

/** @param after the payment right after the event. Undefined for an event without a sentence; a spec checks that none lacks one. */
export function eventSentence(event: PaymentEvent, after: Payment): string | undefined {
  const sentence = own[event.type] as ((data: PaymentEvent['data'], after: Payment) => string) | undefined;
  if (sentence) return sentence(event.data, after);
  const payout = unprefixed('Payout', event);
  if (payout && after.payout) return legSentence('The payout', payout, after.payout);
  const number = 'refund' in event.data ? event.data.refund : undefined;
  const refund = after.refunds.find((each) => each.refund === number);
  const recorded = unprefixed('Refund', event);
  return recorded && refund ? legSentence(`Refund ${number}`, recorded, refund) : undefined;
}

/** One sentence per status, and one per situation of its money. */
const of: Readonly<Record<PaymentStatus, (p: Payment) => string>> = {
  payment_unpaid: () => 'No money that counts has come yet.',
  payment_started: () => 'Money has come, and it is not all there or not final on its chain yet.',
  payment_payin_completed: () => 'The money is there for good; the payout is not signed yet.',
  payment_bridging: ({ terms }) =>
    `The money is there for good; the payout on ${nameOfChain(terms.destination.chainId)} is ordered and not signed yet.`,
  payment_payout_started: ({ terms }) =>
    `The payout is signed and recorded; it is not final on ${nameOfChain(terms.destination.chainId)} yet.`,
  payment_payout_completed: ({ terms }) =>
    `The receiver has the money: the payout is final on ${nameOfChain(terms.destination.chainId)}.`,
  payment_completed: ({ terms }) =>
    `The receiver has the money: the payout is final on ${nameOfChain(terms.destination.chainId)}, the chain that it was paid on.`,
  payment_bounced: () => 'Money came and cannot be paid out: it is held, and can go back.',
  payment_expired: () => 'Its time was over before the money came.',
  payment_refunded: () => 'What came has gone back, final on its chain.',
};

export const statusSentence = (p: Payment): string => of[statusOf(p)](p);

export const situationSentences: Readonly<Record<SituationKind, string>> = {
  waiting: 'It waits for its payer.',
  timeUp:
    'By the clock its time is over; it ends as soon as the blocks of its last moments have been read to their final depth.',
  detected: 'All that is due has been seen in a block, and nothing above it yet.',
  confirming: 'All that is due has been seen; blocks above it are being counted.',
  underpaid: 'Less than is due has come: the rest may still come until its time is over.',
  paid: 'What came is final and pays for it.',
  payingOut: 'The payout is on its way.',
  completed: 'Nothing is left to be done.',
  expired: 'Nothing came in time. What comes later is recorded and held.',
  late: 'Only money that came too late is there.',
  wrongToken: 'Only another token than agreed is there.',
  wrongChain: 'Only money on another chain than agreed is there.',
  otherSender: 'Only money of another sender than announced is there.',
  tooLow: 'Less than agreed came in time.',
  tooHigh: 'More than the accepted limit came.',
  unpayable: 'Its receiver cannot be paid.',
  refunding: 'Money is on its way back.',
  refunded: 'All that came has gone back.',
};

export interface Explanation {
  readonly paymentId: string;
  readonly appId: string;
  readonly orderId: string | null;
  readonly status: PaymentStatus;
  readonly situation: SituationKind;
  /** Time of the explanation. */
  readonly at: Instant;
  /** Current state in one or two sentences. */
  readonly summary: string;
  /** Oldest first. */
  readonly because: readonly Because[];
  readonly next: readonly string[];
  readonly operator: readonly string[];
}

/** An event and its sentence. Revision, position and link find it in the log. */
export interface Because {
  readonly revision: string;
  readonly position: string;
  readonly type: string;
  readonly at: Instant;
  /** Actor, with the request or worker. */
  readonly cause: string;
  readonly link: string;
  readonly sentence: string;
}

export interface ExplainDeps {
  readonly read: (stored: StoredEvent) => DomainEvent | undefined;
  /** SHA-256 (hex) that the next event holds of it. */
  readonly linkOf: (stored: StoredEvent) => string;
  readonly now: Instant;
  /** Facts about the chain of the source in force. */
  readonly chainOf: (payment: Payment) => ChainFacts;
  readonly noted: NextFacts['noted'];
}

/** @param events of the payment's stream, from the first one. Null if they create no payment. */
export function explainPayment(events: readonly StoredEvent[], deps: ExplainDeps): Explanation | null {
  const { read, linkOf, now } = deps;
  let payment: PaymentState = paymentDecider.initial;
  const because: Because[] = [];
  for (const stored of events) {
    const event = read(stored) as PaymentEvent | undefined;
    if (event) payment = paymentDecider.evolve(payment, event);
    const { revision, position, type, metadata } = stored;
    const sentence = event && payment ? eventSentence(event, payment) : undefined;
    because.push({
      revision: revision.toString(),
      position: position.toString(),
      type,
      at: metadata.at,
      cause: metadata.cause,
      link: linkOf(stored),
      sentence: sentence ?? 'An event of a newer version of this service: it changes nothing that this one knows.',
    });
  }
  if (!payment) return null;
  const situation = situationOf(payment, now, deps.chainOf(payment));
  const { paymentId, appId, orderId } = payment.terms;
  return {
    ...{ paymentId, appId, orderId, status: statusOf(payment), situation: situation.kind, at: now },
    summary: `${statusSentence(payment)} ${situationSentences[situation.kind]}`,
    because,
    ...nextOf(payment, { now, situation, noted: deps.noted }),
  };
}
