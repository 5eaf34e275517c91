/** Public view of a payment: its status, the fields of read models and the API, and a webhook's data. */
import type { ChainId, TokenSymbol } from '../chains.ts';
import { convert, formatAmount } from '../money.ts';
import { type Instant, minute_ms, plus } from '../time.ts';
import { liveAttempts } from '../transfer/leg.ts';
import type { BounceCode, PaymentType } from './events.ts';
import type { Intent } from './intent.ts';
import type { LineItem, Metadata } from './lineItems.ts';
import type { RefundAsker } from './shapes.ts';
import { allCounted, counted, dueFrom, isSameAsset, type Source, sumOf } from './sources.ts';
import type { Payment, Refund } from './state.ts';
import { isWhollyRefunded, refundable } from './state.ts';

// Public fields of a payment's refunds.

/** ordered: not signed. sent: a signed transfer can land. completed: final on its chain. calledOff: not sent. */
export const refundStatuses = ['ordered', 'sent', 'completed', 'calledOff'] as const;
export type RefundStatus = (typeof refundStatuses)[number];

/** JSON, amounts as decimal texts of whole tokens. */
export interface RefundView {
  /** Sequence number of the payment's refund, from 1. */
  readonly refund: number;
  readonly status: RefundStatus;
  readonly reason: Refund['reason'];
  readonly chainId: ChainId;
  readonly tokenSymbol: TokenSymbol;
  readonly tokenAddress: string;
  /** Amount that is sent; the network fee is deducted separately. */
  readonly amount: string;
  readonly networkFee: string;
  readonly receiverAddress: string;
  readonly receiverMemo: string | null;
  /** Null in older refunds. */
  readonly requestedBy: RefundAsker | null;
  readonly requestedAt: Instant;
  /** Transaction of the settled attempt, else of the latest one that can land. */
  readonly txHash: string | null;
  readonly confirmedAt: Instant | null;
}

export const refundViews = ({ refunds }: Pick<Payment, 'refunds'>): readonly RefundView[] => refunds.map(refundView);

function refundStatusOf(refund: Refund): RefundStatus {
  if (refund.settled) return 'completed';
  if (refund.calledOff !== null) return 'calledOff';
  return liveAttempts(refund).length > 0 ? 'sent' : 'ordered';
}

export function refundView(refund: Refund): RefundView {
  const { order, settled, request } = refund;
  const { symbol, address, decimals } = order.token;
  const live = liveAttempts(refund).at(-1);
  return {
    refund: refund.refund,
    status: refundStatusOf(refund),
    reason: refund.reason,
    chainId: order.chainId,
    tokenSymbol: symbol,
    tokenAddress: address,
    amount: formatAmount(order.amount, decimals),
    networkFee: formatAmount(refund.networkFee, decimals),
    receiverAddress: order.receiver,
    receiverMemo: order.receiverMemo,
    requestedBy: request.requestedBy ?? null,
    requestedAt: refund.requestedAt,
    txHash: settled?.hash ?? live?.hash ?? null,
    confirmedAt: settled?.confirmedAt ?? null,
  };
}

export const paymentStatuses = [
  'payment_unpaid',
  'payment_started',
  'payment_payin_completed',
  'payment_bridging',
  'payment_payout_started',
  'payment_payout_completed',
  'payment_completed',
  'payment_bounced',
  'payment_expired',
  'payment_refunded',
] as const;

export type PaymentStatus = (typeof paymentStatuses)[number];

/** Statuses at which a poller may stop. A late payin can still change an expired payment to bounced and then refunded. */
export const terminalStatuses: readonly PaymentStatus[] = [
  'payment_payout_completed',
  'payment_completed',
  'payment_bounced',
  'payment_expired',
  'payment_refunded',
];

/** The public status (service reference 3), derived and never stored as a fact of its own. */
export function statusOf(p: Payment): PaymentStatus {
  if (p.closed)
    return p.closed.kind === 'expired'
      ? 'payment_expired'
      : isWhollyRefunded(p)
        ? 'payment_refunded'
        : 'payment_bounced';
  const sameChain = p.terms.source.chainId === p.terms.destination.chainId;
  if (p.payout?.settled) return p.terms.keyless && sameChain ? 'payment_completed' : 'payment_payout_completed';
  if (p.payout && p.payout.attempts.length > 0) return 'payment_payout_started';
  if (p.payout && !sameChain) return 'payment_bridging';
  if (p.funded) return 'payment_payin_completed';
  return allCounted(p).length > 0 ? 'payment_started' : 'payment_unpaid';
}

export interface SourceView {
  readonly chainId: ChainId;
  readonly tokenSymbol: TokenSymbol;
  readonly tokenAddress: string;
  /** Amount that the customer pays there, fee included; null for anyAmount. */
  readonly amount: string | null;
}

/** Flat JSON: amounts are decimal texts, times ISO 8601 UTC. Null while a value is unknown. */
export interface PaymentView {
  readonly paymentId: string;
  readonly appId: string;
  readonly orderId: string | null;
  readonly status: PaymentStatus;
  readonly errorCode: BounceCode | null;
  readonly errorMessage: string | null;
  readonly type: PaymentType;
  readonly intent: Intent | null;
  readonly keyless: boolean;
  readonly title: string | null;
  readonly description: string | null;
  readonly currency: string | null;
  /** Lines of the order; null without any. */
  readonly lineItems: readonly LineItem[] | null;
  readonly metadata: Metadata | null;
  readonly webhookUrl: string | null;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  readonly expiresAt: Instant;
  readonly sourceChainId: ChainId;
  readonly sourceTokenSymbol: TokenSymbol;
  readonly sourceTokenAddress: string;
  /** Amount that the customer pays, fee included; null for anyAmount until funded. */
  readonly sourceAmount: string | null;
  readonly sourceFee: string | null;
  readonly depositAddress: string;
  readonly depositMemo: string | null;
  readonly depositContract: string | null;
  readonly depositContractMemo: string | null;
  readonly senderAddress: string | null;
  readonly payinTxHash: string | null;
  readonly amountReceived: string | null;
  /** Agreed amount from the source in force; null for anyAmount. */
  readonly amountExpected: string | null;
  /** Total received there, counted or not. */
  readonly amountCame: string;
  /** Received minus agreed: negative for too little. */
  readonly amountDelta: string | null;
  /** Amount above the agreed one, and the part that the destination's token cannot express; null until funded. */
  readonly excess: string | null;
  readonly dust: string | null;
  /** Refunded amount that is final on its chain, in whole tokens of any token. */
  readonly refunded: string;
  readonly refunds: readonly RefundView[];
  /** Time of the block with the first counted payin. */
  readonly payinSeenAt: Instant | null;
  readonly payinConfirmedAt: Instant | null;
  readonly destinationChainId: ChainId;
  readonly destinationTokenSymbol: TokenSymbol;
  readonly destinationTokenAddress: string;
  readonly destinationAmount: string | null;
  readonly receiverAddress: string;
  readonly receiverMemo: string | null;
  /** All offered sources, including the one in force; null without a choice. */
  readonly payFrom: readonly SourceView[] | null;
  readonly payoutTxHash: string | null;
  readonly payoutConfirmedAt: Instant | null;
  /** Amount still due from the current source after a payin that was too little; null otherwise. */
  readonly missing: string | null;
  /** Money that can only go back and is not ordered back, one entry per chain and token; null for none. */
  readonly held: readonly HeldView[] | null;
  /** When the app ended the time to pay early. */
  readonly cancelledAt: Instant | null;
  /** For a payment that funds a refund: the payment that is refunded. */
  readonly refundOf: string | null;
  /** For the app's own people. Payers, webhooks and answers of the API never contain it. */
  readonly note: string | null;
  readonly tags: readonly string[] | null;
}

export interface HeldView {
  readonly chainId: ChainId;
  readonly tokenSymbol: TokenSymbol;
  readonly amount: string;
}

/** @param updatedAt when the last folded event was written */
export function viewOf(p: Payment, updatedAt: Instant): PaymentView {
  const { terms } = p;
  return {
    paymentId: terms.paymentId,
    appId: terms.appId,
    orderId: terms.orderId,
    status: statusOf(p),
    ...errorOf(p),
    type: terms.type,
    intent: terms.intent,
    keyless: terms.keyless,
    title: terms.display.title,
    description: terms.display.description,
    currency: terms.display.currency,
    lineItems: terms.display.lineItems ?? null,
    metadata: terms.metadata,
    webhookUrl: terms.webhookUrl,
    createdAt: terms.createdAt,
    updatedAt,
    expiresAt: terms.expiresAt,
    ...sourceOf(p),
    payFrom: p.sources.length > 1 ? p.sources.map(sourceView) : null,
    ...destinationOf(p),
    missing: missingOf(p),
    held: heldViews(p),
    cancelledAt: p.cancelledAt,
    refundOf: terms.refundOf?.paymentId ?? null,
    note: p.annotation.note,
    tags: p.annotation.tags.length > 0 ? p.annotation.tags : null,
  };
}

function missingOf(p: Payment): string | null {
  const { source, limits } = p.terms;
  const least = source.amount ?? limits?.min ?? null;
  const came = sumOf(counted(p));
  if (p.closed || p.funded || least === null || came === 0n) return null;
  if (came >= dueFrom(p.terms, { ...source, limits })) return null;
  return formatAmount(BigInt(least) - came, source.token.decimals);
}

function heldViews(p: Payment): readonly HeldView[] | null {
  const held = refundable(p).map(({ chainId, token, amount }) => ({
    chainId,
    tokenSymbol: token.symbol,
    amount: formatAmount(amount, token.decimals),
  }));
  return held.length > 0 ? held : null;
}

const sourceView = ({ chainId, token, amount }: Source): SourceView => ({
  chainId,
  tokenSymbol: token.symbol,
  tokenAddress: token.address,
  amount: amount === null ? null : formatAmount(BigInt(amount), token.decimals),
});

function sourceOf(p: Payment) {
  const { source, fee, deposit } = p.terms;
  const amount = (units: bigint | string | null | undefined) =>
    units === null || units === undefined ? null : formatAmount(BigInt(units), source.token.decimals);
  const payins = counted(p);
  const first = payins[0];
  return {
    sourceChainId: source.chainId,
    sourceTokenSymbol: source.token.symbol,
    sourceTokenAddress: source.token.address,
    sourceAmount: amount(source.amount ?? p.funded?.sourceAmount),
    sourceFee: amount(p.funded?.fee ?? fee.amount),
    depositAddress: deposit.address,
    depositMemo: deposit.memo,
    depositContract: deposit.contract,
    depositContractMemo: deposit.contractMemo,
    senderAddress: first?.transfer.from ?? announcedSender(p),
    payinTxHash: first?.transfer.txHash ?? p.registered?.txHash ?? null,
    amountReceived: payins.length > 0 ? amount(sumOf(payins)) : null,
    ...comparedAmounts(p),
    excess: amount(p.funded?.excess),
    dust: amount(p.funded?.dust),
    refunded: refundedOf(p),
    refunds: refundViews(p),
    payinSeenAt: seenAt(p),
    payinConfirmedAt: p.funded?.fundedAt ?? null,
  };
}

function comparedAmounts({ terms: { source }, payins, funded }: Payment) {
  const there = payins.filter(
    ({ phase, transfer }) => (phase === 'detected' || phase === 'confirmed') && isSameAsset(transfer, source),
  );
  const { decimals } = source.token;
  // A cashback payment is funded by the treasury's balance, without a transfer.
  const came = funded?.rule === 'cashback' ? funded.received : sumOf(there);
  const expected = source.amount === null ? null : BigInt(source.amount);
  return {
    amountExpected: expected === null ? null : formatAmount(expected, decimals),
    amountCame: formatAmount(came, decimals),
    amountDelta: expected === null ? null : formatAmount(came - expected, decimals),
  };
}

/** With an intent only the named sender pays, so a hint does not change it. */
const announcedSender = ({ terms: { intent, source }, registered }: Payment): string | null =>
  intent === null ? (registered?.senderAddress ?? source.senderAddress) : source.senderAddress;

export const seenAt = (p: Payment): Instant | null => counted(p)[0]?.transfer.blockTime ?? null;

/** Unit with the decimals of the finest token. */
const finest = { symbol: 'USD', decimals: 18 } as const;

function refundedOf(p: Payment): string {
  const settled = p.refunds.filter((refund) => refund.settled);
  const sum = settled.reduce((all, { order }) => all + convert(order.amount, order.token, finest), 0n);
  return formatAmount(sum, finest.decimals);
}

function destinationOf(p: Payment) {
  const { destination } = p.terms;
  const units = p.funded?.payout ?? destination.amount;
  const settled = p.payout?.settled;
  return {
    destinationChainId: destination.chainId,
    destinationTokenSymbol: destination.token.symbol,
    destinationTokenAddress: destination.token.address,
    destinationAmount: units === null ? null : formatAmount(BigInt(units), destination.token.decimals),
    receiverAddress: destination.receiverAddress,
    receiverMemo: destination.receiverMemo,
    payoutTxHash: settled?.hash ?? p.payout?.attempts.findLast(({ fate }) => fate === 'live')?.signed.hash ?? null,
    payoutConfirmedAt: settled?.confirmedAt ?? null,
  };
}

const messages = {
  amountTooLow:
    'Less than the agreed or the least accepted amount arrived in time. The money is held and can be refunded.',
  amountTooHigh: 'More than the accepted limit arrived. The money is held and can be refunded.',
  latePayin: 'The money arrived after the payment had expired. It is held and can be refunded.',
  wrongToken: 'Another token than the agreed one arrived. It is held and can be refunded.',
  wrongChain: 'The money arrived on another chain than agreed. It is held and can be refunded.',
  otherSender: 'The money came from another sender than the announced one. It is held and can be refunded.',
  payoutImpossible: 'The destination cannot be paid. The money is held and can be refunded.',
} as const;

function errorOf(p: Payment): Pick<PaymentView, 'errorCode' | 'errorMessage'> {
  return p.closed?.kind === 'bounced'
    ? { errorCode: p.closed.code, errorMessage: messages[p.closed.code] }
    : { errorCode: null, errorMessage: emptyPayin(p) };
}

/** All addresses of a payment with deposits on several families. */
export const addressesIn = (deposits: Payment['deposits']): string =>
  Object.values(deposits)
    .map(({ address }) => address)
    .join(' or ');

/** The registered transaction transferred nothing to the payment, and no other money has arrived. */
function emptyPayin({ registered, payins, deposits }: Payment): string | null {
  if (!registered?.isEmpty || payins.length > 0) return null;
  const { txHash } = registered;
  return `The registered transaction ${txHash} contains no accepted token for this payment's address ${addressesIn(deposits)}. Check the token, its contract and the receiver, or register another transaction.`;
}

// The payment as answers and webhooks return it to merchants (service reference 2.1 to 2.4 and 6). The type checker compares it with the
// API's schemas.

/**
 * `data` of a webhook, with one schema for all events: the payment without metadata, webhookUrl, webhookSecretSource, paymentLink and
 * merchant (service reference 6).
 *
 * @param view of the payment folded up to the webhook's event
 */
export const webhookData = (view: PaymentView) => ({
  id: view.paymentId,
  appId: view.appId,
  orderId: view.orderId,
  keyless: view.keyless,
  status: view.status,
  errorCode: view.errorCode,
  errorMessage: view.errorMessage,
  type: view.type,
  createdAt: view.createdAt,
  updatedAt: view.updatedAt,
  expiresAt: view.expiresAt,
  display: { title: view.title, name: view.title, description: view.description, currency: view.currency },
  source: webhookSource(view),
  destination: webhookDestination(view),
  webhookSecret: null,
  payFrom: payFromOf(view),
  amounts: amountsOf(view),
  refunds: view.refunds.map(refundResource),
});

export const refundResource = ({ chainId, ...refund }: RefundView) => ({
  ...refund,
  chainId: String(chainId),
});

const payFromOf = ({ payFrom }: PaymentView) =>
  payFrom?.map(({ chainId, ...source }) => ({ ...source, chainId: String(chainId) })) ?? null;

const amountsOf = ({ amountExpected, amountCame, amountDelta }: PaymentView) => ({
  expected: amountExpected,
  received: amountCame,
  delta: amountDelta,
});

const webhookSource = (view: PaymentView) => ({
  chainId: String(view.sourceChainId),
  tokenSymbol: view.sourceTokenSymbol,
  tokenAddress: view.sourceTokenAddress,
  amount: view.sourceAmount,
  receiverAddress: view.depositAddress,
  receiverMemo: view.depositMemo,
  fee: view.sourceFee,
  senderAddress: view.senderAddress,
  txHash: view.payinTxHash,
  amountReceived: view.amountReceived,
  confirmedAt: view.payinConfirmedAt,
  receiverAddressContract: view.depositContract,
  receiverMemoContract: view.depositContractMemo,
});

const webhookDestination = (view: PaymentView) => ({
  chainId: String(view.destinationChainId),
  receiverAddress: view.receiverAddress,
  receiverMemo: view.receiverMemo,
  tokenSymbol: view.destinationTokenSymbol,
  tokenAddress: view.destinationTokenAddress,
  amount: view.destinationAmount,
  txHash: view.payoutTxHash,
  confirmedAt: view.payoutConfirmedAt,
});

export type WebhookData = ReturnType<typeof webhookData>;

/**
 * `data` of a test webhook: a fully paid payment that does not exist. Its order id says so, for receivers that ignore the type.
 *
 * @param at time of the test, used as the time of the payout
 */
export const sampleWebhookData = (appId: string, at: Instant): WebhookData => ({
  id: '00000000-0000-8000-8000-000000000000',
  appId,
  orderId: 'webhook-test',
  keyless: false,
  status: 'payment_payout_completed',
  errorCode: null,
  errorMessage: null,
  type: 'exactOut',
  createdAt: plus(at, -5 * minute_ms),
  updatedAt: at,
  expiresAt: plus(at, 55 * minute_ms),
  display: { title: 'Webhook test', name: 'Webhook test', description: 'No money moved.', currency: 'USD' },
  source: {
    chainId: '8453',
    tokenSymbol: 'USDC',
    tokenAddress: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    amount: '10.01',
    receiverAddress: '0x000000000000000000000000000000000000dEaD',
    receiverMemo: null,
    fee: '0.01',
    senderAddress: '0x000000000000000000000000000000000000bEEF',
    txHash: `0x${'0'.repeat(63)}1`,
    amountReceived: '10.01',
    confirmedAt: plus(at, -minute_ms),
    receiverAddressContract: null,
    receiverMemoContract: null,
  },
  destination: {
    chainId: '1',
    receiverAddress: '0x000000000000000000000000000000000000dEaD',
    receiverMemo: null,
    tokenSymbol: 'USDC',
    tokenAddress: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
    amount: '10.00',
    txHash: `0x${'0'.repeat(63)}2`,
    confirmedAt: at,
  },
  webhookSecret: null,
  payFrom: null,
  amounts: { expected: '10.01', received: '10.01', delta: '0.00' },
  refunds: [],
});
