/** History of a payment for its owner: its events and webhooks in order, as typed facts. */
import { knownEvent } from '../commands/ports.ts';
import type { ChainId, TokenSymbol } from '../domain/chains.ts';
import { isRefusal, type StoredEvent } from '../domain/decider.ts';
import { formatAmount } from '../domain/money.ts';
import type { PolicyRule, Verdict } from '../domain/payment/amountPolicy.ts';
import {
  type BounceCode,
  type PaymentCreated,
  type PaymentEvent,
  type PaymentEventData,
  type TokenRef,
  transferId,
} from '../domain/payment/events.ts';
import type { Payin, Standing } from '../domain/payment/sources.ts';
import { type Payment, type PaymentState, paymentDecider } from '../domain/payment/state.ts';
import { type PaymentStatus, type PaymentView, statusOf, viewOf } from '../domain/payment/view.ts';
import type { Instant } from '../domain/time.ts';
import type { Attempt, TransferLeg } from '../domain/transfer/leg.ts';
import type { DeathProof } from '../domain/transfer/shapes.ts';
import type { Sql } from '../projections/sql.ts';
import { type Delivery, listDeliveries } from './deliveries.ts';
import { headsOf } from './operations.ts';
import { type GetPaymentDeps, paymentIdIn } from './payments.ts';

/**
 * @param after the payment right after the event
 * @param now the current payment, for the fate of attempts and payins
 */
export function factOf(event: PaymentEvent, after: Payment, now: Payment): PaymentFact {
  switch (event.type) {
    case 'PaymentCreated':
      return created(event.data);
    case 'SourceChosen':
      return chosen(event.data, after);
    case 'PayinRegistered':
      return { type: 'payinRegistered', txHash: event.data.txHash, senderAddress: event.data.senderAddress };
    case 'PaymentFunded':
      return funded(event.data, after);
    case 'PolicyApplied': {
      const { rule, verdict, amount, token, chainId } = event.data;
      return { type: 'policyApplied', rule, verdict, money: money(amount, token), chainId };
    }
    case 'PaymentCancelled':
      return { type: 'cancelled', expiresAt: event.data.expiresAt };
    case 'PaymentAnnotated':
      return { type: 'annotated', note: event.data.note, tags: event.data.tags };
    case 'PaymentExpired':
      return { type: 'expired', chainTime: event.data.chainTime };
    case 'PaymentBounced':
      return bounced(event.data, after);
    case 'RefundAddressSet':
      return { type: 'refundAddressSet', address: event.data.address, memo: event.data.memo };
    case 'RefundAddressConfirmed':
      return { type: 'refundAddressConfirmed', address: event.data.address, effectiveAt: event.data.effectiveAt };
    case 'RefundAddressWithdrawn':
      return { type: 'refundAddressWithdrawn' };
    case 'FundedRefundOrdered': {
      const { refund, amount, token, chainId, receiverAddress, fundingPaymentId } = event.data;
      return {
        type: 'fundedRefundOrdered',
        refund,
        money: money(amount, token),
        chainId,
        receiverAddress,
        fundingPaymentId,
      };
    }
    case 'FundedRefundEnded':
      return { type: 'fundedRefundEnded', refund: event.data.refund, outcome: event.data.outcome };
    default:
      return payinFact(event, after) ?? legFact(event, now) ?? { type: 'other', name: event.type };
  }
}

const money = (units: bigint | string, { symbol, decimals }: TokenRef): Money => ({
  amount: formatAmount(BigInt(units), decimals),
  tokenSymbol: symbol,
});

const created = ({ source, destination, expiresAt }: PaymentCreated): PaymentFact => ({
  type: 'created',
  pays: source.amount === null ? null : money(source.amount, source.token),
  gets: destination.amount === null ? null : money(destination.amount, destination.token),
  sourceChainId: source.chainId,
  destinationChainId: destination.chainId,
  expiresAt,
});

function chosen({ deposit }: PaymentEventData<'SourceChosen'>, { chosen: source }: Payment): PaymentFact {
  const { chainId, token, amount } = source;
  const pays = amount === null ? null : money(amount, token);
  return { type: 'sourceChosen', chainId, tokenSymbol: token.symbol, pays, depositAddress: deposit.address };
}

const bounced = (
  { code, received, asset }: PaymentEventData<'PaymentBounced'>,
  { sources: [first] }: Payment,
): PaymentFact => ({ type: 'bounced', code, received: money(received, asset?.token ?? first.token) });

function funded(data: PaymentEventData<'PaymentFunded'>, { terms }: Payment): PaymentFact {
  const { token } = terms.source;
  return {
    type: 'funded',
    rule: data.rule,
    received: money(data.received, token),
    fee: money(data.fee, token),
    excess: money(data.excess, token),
    dust: money(data.dust, token),
    payout: money(data.payout, terms.destination.token),
  };
}

function payinFact(event: PaymentEvent, { payins }: Payment): PaymentFact | undefined {
  const of = (id: string): PayinFact | undefined => {
    const payin = payins.find((known) => known.id === id);
    return payin && payinOf(payin);
  };
  switch (event.type) {
    case 'PayinDetected': {
      const payin = of(transferId(event.data.transfer));
      return payin && { type: 'payinDetected', confirmations: null, ...payin };
    }
    case 'PayinConfirmed': {
      const payin = of(transferId(event.data.transfer));
      return payin && { type: 'payinConfirmed', ...payin };
    }
    case 'PayinOrphaned':
    case 'PayinLost': {
      const payin = of(event.data.transferId);
      return payin && { type: event.type === 'PayinLost' ? 'payinLost' : 'payinOrphaned', ...payin };
    }
    default:
      return undefined;
  }
}

const payinOf = ({ transfer, amount, standing }: Payin): PayinFact => ({
  ...money(amount, transfer.token),
  chainId: transfer.chainId,
  txHash: transfer.txHash,
  from: transfer.from,
  blockNumber: transfer.blockNumber,
  standing,
});

function legFact(event: PaymentEvent, now: Payment): PaymentFact | undefined {
  const refund = 'refund' in event.data ? event.data.refund : null;
  const which: LegFact = { leg: refund === null ? 'payout' : 'refund', refund };
  const leg = refund === null ? now.payout : now.refunds.find((known) => known.refund === refund);
  if (!leg) return undefined;
  switch (event.type) {
    case 'PayoutRequested':
    case 'RefundRequested':
      return ordered(event, which);
    case 'PayoutSigned':
    case 'RefundSigned': {
      const { account, nonce, attempt } = event.data;
      const fate = leg.attempts.find(({ signed }) => signed.attempt === attempt)?.fate ?? 'live';
      return { type: 'signed', ...which, ...attemptOf(leg, attempt), account, nonce, fate };
    }
    case 'PayoutDied':
    case 'RefundDied':
      return { type: 'died', ...which, ...attemptOf(leg, event.data.attempt), proof: event.data.proof.reason };
    case 'PayoutOrphaned':
      return { type: 'left', ...which, ...attemptOf(leg, event.data.attempt) };
    case 'PayoutShort': {
      const { token, amount } = leg.order;
      const { attempt, arrived } = event.data;
      return {
        type: 'short',
        ...which,
        ...attemptOf(leg, attempt),
        arrived: money(arrived, token),
        ordered: money(amount, token),
      };
    }
    case 'PayoutConfirmed':
    case 'RefundConfirmed': {
      const { attempt, blockNumber } = event.data;
      return { type: 'settled', ...which, ...attemptOf(leg, attempt), blockNumber };
    }
    default:
      return undefined;
  }
}

type Ordered = Extract<PaymentEvent, { type: 'PayoutRequested' | 'RefundRequested' }>;

function ordered({ data }: Ordered, which: LegFact): PaymentFact {
  const { chainId, token, amount, receiverAddress, receiverMemo } = data;
  const order = {
    type: 'ordered',
    ...which,
    money: money(amount, token),
    chainId,
    receiverAddress,
    receiverMemo,
  } as const;
  if (!('reason' in data)) return { ...order, reason: null, networkFee: null, requestedBy: null };
  const { reason, networkFee, requestedBy = null } = data;
  const fee = networkFee === undefined ? null : formatAmount(BigInt(networkFee), token.decimals);
  return { ...order, reason, networkFee: fee, requestedBy };
}

const attemptOf = ({ order, attempts }: TransferLeg, attempt: number) => ({
  attempt,
  chainId: order.chainId,
  txHash: attempts.find(({ signed }) => signed.attempt === attempt)?.signed.hash ?? '',
});

export interface PaymentStory {
  readonly payment: PaymentView;
  /** Oldest first. */
  readonly entries: readonly StoryEntry[];
}

export type StoryEntry = {
  readonly at: Instant;
  /** Payment's status after this entry; null for a webhook, which does not change it. */
  readonly status: PaymentStatus | null;
} & (PaymentFact | WebhookFact);

export interface WebhookFact {
  readonly type: 'webhook';
  readonly deliveryId: string;
  readonly eventType: Delivery['eventType'];
  /** Automatic, manual, or a test. */
  readonly kind: Delivery['kind'];
  readonly delivery: Delivery['status'];
  readonly statusCode: number | null;
  readonly error: Delivery['error'];
  /** Null while no outcome is recorded. */
  readonly duration_ms: number | null;
}

/**
 * From the log, so it is complete while read models are stopped; webhooks come from their read model. Null if the app has no such payment.
 * @throws Unavailable
 */
export async function paymentStory(
  deps: GetPaymentDeps,
  appId: string,
  paymentId: string,
): Promise<PaymentStory | null> {
  const id = paymentIdIn(paymentId);
  const events = id === undefined ? [] : await deps.history(`payment-${id}`);
  const lived = live(events, deps.read);
  const { now } = lived;
  const last = events.at(-1);
  if (!last || now?.terms.appId !== appId) return null;
  const [webhooks, heads] = await Promise.all([webhooksOf(deps.sql, appId, now.terms.paymentId), headsOf(deps.sql)]);
  const entries = lived.moments.map((moment) => withConfirmations(entryOf(moment, now), now, heads));
  return {
    payment: viewOf(now, last.metadata.at),
    entries: merged(entries, webhooks),
  };
}

/** Events keep their stream's order, whatever the clocks said. A webhook follows the events up to its time. */
function merged(events: readonly StoryEntry[], webhooks: readonly StoryEntry[]): readonly StoryEntry[] {
  const story: StoryEntry[] = [];
  let told = 0;
  for (const webhook of webhooks) {
    const before = events.findIndex((event, index) => index >= told && event.at > webhook.at);
    const until = before < 0 ? events.length : before;
    story.push(...events.slice(told, until), webhook);
    told = until;
  }
  return [...story, ...events.slice(told)];
}

/** An event, and the payment right after it. */
interface Moment {
  readonly stored: StoredEvent;
  /** Undefined for a type that this version does not know. */
  readonly event: PaymentEvent | undefined;
  readonly after: Payment;
}

function live(events: readonly StoredEvent[], read: GetPaymentDeps['read']) {
  let now: PaymentState = paymentDecider.initial;
  const moments: Moment[] = [];
  for (const stored of events) {
    const event = knownEvent(stored, read) as PaymentEvent | undefined;
    if (event) now = paymentDecider.evolve(now, event);
    if (now) moments.push({ stored, event, after: now });
  }
  return { now, moments };
}

function entryOf({ stored, event, after }: Moment, now: Payment): StoryEntry {
  const fact: PaymentFact = event ? factOf(event, after, now) : { type: 'other', name: stored.type };
  return { at: stored.metadata.at, status: statusOf(after), ...fact };
}

/** Adds the confirmations of transfers that are not final yet. */
function withConfirmations(entry: StoryEntry, { payins }: Payment, heads: ReadonlyMap<number, bigint>): StoryEntry {
  if (entry.type !== 'payinDetected') return entry;
  const { chainId, txHash, blockNumber } = entry;
  const head = heads.get(chainId);
  const waits = payins.some(
    ({ phase, transfer }) => phase === 'detected' && transfer.txHash === txHash && transfer.blockNumber === blockNumber,
  );
  const depth = head === undefined ? -1n : head - BigInt(blockNumber) + 1n;
  return waits && depth > 0n ? { ...entry, confirmations: Number(depth) } : entry;
}

/** Maximum webhooks of one payment; the list of deliveries has the others. */
const webhooksMax = 100;

async function webhooksOf(sql: Sql, appId: string, paymentId: string): Promise<readonly StoryEntry[]> {
  const page = await listDeliveries(sql, appId, { limit: webhooksMax, paymentId });
  if (isRefusal(page)) return [];
  return page.deliveries.toReversed().map((delivery) => ({
    type: 'webhook',
    at: delivery.startedAt,
    status: null,
    deliveryId: delivery.deliveryId,
    eventType: delivery.eventType,
    kind: delivery.kind,
    delivery: delivery.status,
    statusCode: delivery.statusCode,
    error: delivery.error,
    duration_ms: delivery.durationMs,
  }));
}

// Facts of a payment's history, one per event.

/** Whole tokens as a decimal text. */
export interface Money {
  readonly amount: string;
  readonly tokenSymbol: TokenSymbol;
}

interface PayinFact extends Money {
  readonly chainId: ChainId;
  readonly txHash: string;
  readonly from: string;
  readonly blockNumber: string;
  readonly standing: Standing;
}

/** A payout, or the nth refund. */
interface LegFact {
  readonly leg: 'payout' | 'refund';
  /** Sequence number of a refund; null for the payout. */
  readonly refund: number | null;
}

interface AttemptFact extends LegFact {
  readonly attempt: number;
  readonly chainId: ChainId;
  readonly txHash: string;
}

type PaymentFact =
  /** The app ended the time to pay early. */
  | { readonly type: 'cancelled'; readonly expiresAt: Instant }
  | { readonly type: 'annotated'; readonly note: string | null; readonly tags: readonly string[] }
  | {
      readonly type: 'created';
      /** Null for anyAmount. */
      readonly pays: Money | null;
      readonly gets: Money | null;
      readonly sourceChainId: ChainId;
      readonly destinationChainId: ChainId;
      readonly expiresAt: Instant;
    }
  /** Null if any amount is accepted. */
  | {
      readonly type: 'sourceChosen';
      readonly chainId: ChainId;
      readonly tokenSymbol: TokenSymbol;
      readonly pays: Money | null;
      readonly depositAddress: string;
    }
  | { readonly type: 'payinRegistered'; readonly txHash: string; readonly senderAddress: string }
  /** `confirmations` up to the newest block that was read, including the transfer's own block; null if unknown. */
  | ({ readonly type: 'payinDetected'; readonly confirmations: number | null } & PayinFact)
  | ({ readonly type: 'payinConfirmed' } & PayinFact)
  /** Its block left the chain; `payinLost` if it had funded the payment. */
  | ({ readonly type: 'payinOrphaned' | 'payinLost' } & PayinFact)
  | {
      readonly type: 'funded';
      readonly rule: PaymentEventData<'PaymentFunded'>['rule'];
      readonly received: Money;
      readonly fee: Money;
      /** Amount above the agreed one: held and refundable. */
      readonly excess: Money;
      /** Remainder that the destination's token cannot express. */
      readonly dust: Money;
      readonly payout: Money;
    }
  /** Verdict of the app's policy; `amount` is the forgiven, accepted, held or refunded amount. */
  | {
      readonly type: 'policyApplied';
      readonly rule: PolicyRule;
      readonly verdict: Verdict;
      readonly money: Money;
      readonly chainId: ChainId;
    }
  | ({
      readonly type: 'ordered';
      readonly money: Money;
      readonly chainId: ChainId;
      readonly receiverAddress: string;
      readonly receiverMemo: string | null;
      /** For a refund: its network fee, and who ordered it; null for the payout, and in older refunds. */
      readonly networkFee: string | null;
      readonly requestedBy: NonNullable<PaymentEventData<'RefundRequested'>['requestedBy']> | null;
      /** Reason of the refund; null for the payout. */
      readonly reason: PaymentEventData<'RefundRequested'>['reason'] | null;
    } & LegFact)
  /** `fate` is the attempt's current fate. */
  | ({
      readonly type: 'signed';
      readonly account: string;
      readonly nonce: string | null;
      readonly fate: Attempt['fate'];
    } & AttemptFact)
  | ({ readonly type: 'died'; readonly proof: DeathProof['reason'] } & AttemptFact)
  /** Its block left the chain: the same bytes are sent again. */
  | ({ readonly type: 'left' } & AttemptFact)
  /** The transfer is final, and less than was ordered arrived. */
  | ({ readonly type: 'short'; readonly arrived: Money; readonly ordered: Money } & AttemptFact)
  | ({ readonly type: 'settled'; readonly blockNumber: string } & AttemptFact)
  | { readonly type: 'expired'; readonly chainTime: Instant }
  | { readonly type: 'bounced'; readonly code: BounceCode; readonly received: Money }
  | { readonly type: 'refundAddressSet'; readonly address: string; readonly memo: string | null }
  | { readonly type: 'refundAddressConfirmed'; readonly address: string; readonly effectiveAt: Instant }
  | { readonly type: 'refundAddressWithdrawn' }
  | {
      readonly type: 'fundedRefundOrdered';
      readonly refund: number;
      readonly money: Money;
      readonly chainId: ChainId;
      readonly receiverAddress: string;
      readonly fundingPaymentId: string;
    }
  | { readonly type: 'fundedRefundEnded'; readonly refund: number; readonly outcome: 'paid' | 'unpaid' }
  /** An event of a type that this version does not know. */
  | { readonly type: 'other'; readonly name: string };
