/** Answers of the service. Amounts and chain ids are strings; an unknown value is null, never omitted. */
import Type, { type Static } from 'typebox';
import { refundAskers, refundScopes } from '../../../domain/payment/shapes.ts';
import { refundStatuses } from '../../../domain/payment/view.ts';
import {
  Address,
  AppId,
  ChainId,
  ChainIdInput,
  closed,
  Decimal,
  DecimalOrNull,
  Identifier,
  IdentifierOrNull,
  Metadata,
  NullableText,
  Ordinal,
  oneOf,
  orNull,
  PageCursor,
  PaymentErrorCode,
  PaymentStatus,
  PaymentType,
  StatsPeriod,
  Text,
  Time,
  TimeOrNull,
  TokenSymbol,
  TxHashOrNull,
  Uuid,
} from './base.ts';

const { Array: List, Integer, Object: Shape, Optional } = Type;
const nullableText = (description: string) => Type.Unsafe<string | null>({ type: ['string', 'null'], description });

// Refunds: requests, orders and quotes.

/** Reasons why refundable money is held. */
const reasons = ['bounced', 'excess', 'held'] as const;
const RefundReason = oneOf(reasons, {
  title: 'RefundReason',
  description:
    'bounced: the payment ended without a payout. excess: more arrived than was due. held: money that did not count.',
});

const RefundResponse = Shape(
  {
    refund: Type.Integer({ description: '1, 2, … of the payment’s' }),
    status: oneOf(refundStatuses, {
      title: 'RefundStatus',
      description:
        'ordered: nothing is signed yet. sent: a signed transfer can land. completed: final on its chain. calledOff: it cannot be sent; its money is held again.',
    }),
    reason: RefundReason,
    chainId: ChainId,
    tokenSymbol: TokenSymbol,
    tokenAddress: Type.String(),
    amount: Type.Unsafe<string>({ ...Decimal, description: 'Sent amount, in whole tokens.' }),
    networkFee: Type.Unsafe<string>({
      ...Decimal,
      description: 'Network cost, deducted in addition to the amount. The service charges no fee.',
    }),
    receiverAddress: Type.String(),
    receiverMemo: NullableText,
    requestedBy: orNull(oneOf(refundAskers, { title: 'RefundAsker' })),
    requestedAt: Time,
    txHash: TxHashOrNull,
    confirmedAt: TimeOrNull,
  },
  { title: 'Refund' },
);

const RefundScope = oneOf(refundScopes, {
  title: 'RefundScope',
  description:
    'all: the refundable money; the default without an amount. excess: the money above the amount due. part: an amount of one token; the default with one.',
});

export const RefundRequest = Shape(
  {
    scope: Optional(RefundScope),
    chainId: Optional(ChainIdInput),
    tokenAddress: Optional(Address),
    amount: Optional(Decimal),
    reason: Optional(Text(400)),
    idempotencyKey: Optional(Identifier),
  },
  {
    ...closed,
    title: 'RefundRequest',
    description:
      'A scope; or chainId, tokenAddress and amount. amount is in whole tokens and includes the cost of sending it. The same idempotencyKey orders once. reason is for later readers.',
    examples: [{ scope: 'all', reason: 'The order was cancelled', idempotencyKey: 'refund-1001' }],
  },
);
export type RefundRequest = Static<typeof RefundRequest>;

export const RefundsOrdered = Shape(
  { data: Type.Array(RefundResponse) },
  { title: 'RefundsOrdered', description: 'The refunds that the request ordered, now or at its first arrival.' },
);

const HeldMoney = Shape(
  {
    reason: RefundReason,
    chainId: ChainId,
    tokenSymbol: TokenSymbol,
    tokenAddress: Type.String(),
    amount: Type.Unsafe<string>({ ...Decimal, description: 'Refundable money without an ordered refund.' }),
    provenAmount: Type.Unsafe<string>({
      ...Decimal,
      description: 'Part that you can refund: its senders have proven an address.',
    }),
    networkFee: Type.Unsafe<string | null>({
      ...DecimalOrNull,
      description: 'Current network cost of a refund to one receiver; null if unknown.',
    }),
  },
  { title: 'HeldMoney' },
);
export const RefundsResponse = Shape(
  { data: Type.Array(RefundResponse), held: Type.Array(HeldMoney) },
  { title: 'RefundsResponse', description: 'Ordered refunds, oldest first, and refundable money.' },
);

// Payments and their lists.

const LineItemInfo = Shape(
  { name: Type.String(), quantity: Integer(), amount: Decimal },
  { title: 'LineItem', description: 'amount is that of the whole line.' },
);

export const DisplayInfo = Shape(
  {
    title: NullableText,
    name: NullableText,
    description: NullableText,
    currency: NullableText,
    lineItems: Type.Optional(
      List(LineItemInfo, {
        description: 'Line items of the purchase, if the request listed them. Webhooks omit the list. An extension.',
      }),
    ),
  },
  { title: 'DisplayInfo', description: 'title and name are always equal.' },
);

export const SourceResponse = Shape(
  {
    chainId: ChainId,
    tokenSymbol: TokenSymbol,
    tokenAddress: Type.String(),
    amount: DecimalOrNull,
    receiverAddress: Type.String({ description: 'The deposit address: the customer pays here, or into the contract.' }),
    receiverMemo: nullableText('Sent with the payment if the deposit address is shared; it identifies the payment.'),
    fee: DecimalOrNull,
    senderAddress: nullableText('Payer, once known; before, the announced sender.'),
    txHash: TxHashOrNull,
    amountReceived: DecimalOrNull,
    confirmedAt: TimeOrNull,
    receiverAddressContract: nullableText(
      'Intent stellar_payin_contracts: the contract whose pay() the customer calls.',
    ),
    receiverMemoContract: nullableText(
      'Intent stellar_payin_contracts: the memo to pass to pay(), unique to this payment.',
    ),
  },
  { title: 'SourceResponse', description: 'amount is what the customer pays, fee included.' },
);

/** Receiver and amount. */
export const destinationProperties = {
  chainId: ChainId,
  receiverAddress: Type.String(),
  receiverMemo: NullableText,
  tokenSymbol: TokenSymbol,
  tokenAddress: Type.String(),
  amount: DecimalOrNull,
};

export const DestinationResponse = Shape(
  {
    ...destinationProperties,
    txHash: TxHashOrNull,
    confirmedAt: TimeOrNull,
  },
  { title: 'DestinationResponse', description: 'amount is what the receiver gets.' },
);

const PayFromSource = Shape(
  { chainId: ChainId, tokenSymbol: TokenSymbol, tokenAddress: Type.String(), amount: DecimalOrNull },
  { title: 'PayFromSource', description: 'amount is the customer’s payment there, fee included; null for anyAmount.' },
);
const Amounts = Shape(
  {
    expected: DecimalOrNull,
    received: Decimal,
    delta: Type.Unsafe<string | null>({ type: ['string', 'null'], pattern: '^-?(0|[1-9][0-9]*)(\\.[0-9]+)?$' }),
  },
  {
    title: 'Amounts',
    description:
      'In the token of source, fee included. received: all money that arrived in it on its chain, whether or not it counts. delta: received less expected, negative for too little; null with expected, for anyAmount. An extension.',
  },
);
const webhookProperties = {
  id: Uuid,
  appId: AppId,
  orderId: IdentifierOrNull,
  keyless: Type.Boolean({
    description: 'Created without a key: anybody can have chosen its orderId, amounts and receiver.',
  }),
  status: PaymentStatus,
  errorCode: orNull(PaymentErrorCode),
  errorMessage: NullableText,
  type: PaymentType,
  createdAt: Time,
  updatedAt: Time,
  expiresAt: Time,
  display: DisplayInfo,
  source: SourceResponse,
  destination: DestinationResponse,
  webhookSecret: NullableText,
  amounts: Amounts,
  payFrom: Type.Unsafe<Static<typeof PayFromSource>[] | null>(
    orNull(
      List(PayFromSource, {
        description:
          'All sources that the payer may choose on the payment’s page; null if there is no choice. source is the latest choice, and once the payment is funded the source that funded it. An extension.',
      }),
    ),
  ),
  refunds: List(RefundResponse, {
    description: 'Ordered refunds of the payment’s held money, oldest first. An extension.',
  }),
};
const Merchant = Shape(
  { name: NullableText, logoUrl: NullableText, colour: NullableText, supportContact: NullableText },
  { title: 'Merchant', description: 'branding of the hosted payment page' },
);
const WebhookSecretSource = oneOf(['app'], { title: 'WebhookSecretSource' });
const paymentProperties = {
  ...webhookProperties,
  metadata: orNull(Metadata),
  webhookUrl: NullableText,
  webhookSecretSource: orNull(WebhookSecretSource),
  paymentLink: orNull(
    Type.String({ description: 'the page for paying and watching the payment, for every holder of this link' }),
  ),
  merchant: orNull(Merchant),
};

export const PaymentResponse = Shape(paymentProperties, {
  title: 'PaymentResponse',
  description:
    'Every field is always present. Without a key, the app’s private fields are null: orderId, metadata, webhook settings, links.',
});
export type PaymentResponse = Static<typeof PaymentResponse>;

export const WebhookPayment = Shape(webhookProperties, {
  title: 'WebhookPayment',
  description:
    'PaymentResponse without metadata, webhookUrl, webhookSecretSource, paymentLink and merchant, which webhooks omit.',
});
export type WebhookPayment = Static<typeof WebhookPayment>;

export const PayinResponse = Shape(
  {
    ...paymentProperties,
    success: Type.Boolean(),
    message: Type.String(),
    payment: Shape(
      {
        id: Uuid,
        status: PaymentStatus,
        source: Shape({ txHash: TxHashOrNull, senderAddress: NullableText }, { title: 'RegisteredPayin' }),
      },
      { title: 'RegisteredPayment' },
    ),
  },
  { title: 'PayinResponse', description: 'The payment, and the registered transaction in short form.' },
);

export const PaymentListResponse = Shape(
  {
    data: List(PaymentResponse),
    hasMore: Type.Boolean(),
    nextCursor: orNull(PageCursor),
  },
  { title: 'PaymentListResponse', description: 'Newest first. Send nextCursor as cursor to read on; null at the end.' },
);

const Transaction = Shape(
  {
    kind: oneOf(['payin', 'payout', 'refund'], { title: 'TransactionKind' }),
    chainId: ChainId,
    txHash: Type.String(),
    index: Integer({ description: 'Payin: number among the transaction’s logs. Payout and refund: the attempt.' }),
    status: Type.String({
      description:
        'payin: detected, confirmed, orphaned, lost. payout and refund: live, settled, short (less than ordered arrived; `amount` is the arrived amount), dead, lapsed.',
    }),
    standing: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'payin: counted towards the payment, or held (late, surplus, wrongToken, wrongChain, otherSender)',
    }),
    tokenSymbol: TokenSymbol,
    tokenAddress: Type.String(),
    amount: Decimal,
    fromAddress: Type.String(),
    toAddress: Type.String(),
    blockNumber: NullableText,
    blockHash: NullableText,
    at: Time,
  },
  { title: 'Transaction' },
);
export const TransactionsResponse = Shape({ data: List(Transaction) }, { title: 'TransactionsResponse' });

const FeedEvent = Shape(
  {
    ordinal: Ordinal,
    eventId: Uuid,
    type: Type.String({
      description: 'Type of the event, such as PayinDetected or PaymentFunded; new types can be added.',
    }),
    paymentId: Uuid,
    orderId: IdentifierOrNull,
    revision: Integer({ description: 'Number of the event among those of its payment, from 0.' }),
    status: PaymentStatus,
    previousStatus: orNull(PaymentStatus),
    errorCode: orNull(PaymentErrorCode),
    at: Time,
  },
  {
    title: 'FeedEvent',
    description:
      'One event of one of the app’s payments, and the payment’s status right after it. ordinal is its place among the app’s events: 1, 2, 3, … without a gap, and for ever the same.',
  },
);
export const EventsResponse = Shape(
  { data: List(FeedEvent), hasMore: Type.Boolean(), nextCursor: Ordinal },
  {
    title: 'EventsResponse',
    description: 'In order. Process the page, save nextCursor, and send it as after.',
  },
);

export const StatsResponse = Shape(
  {
    period: StatsPeriod,
    volumeUsdc: Decimal,
    paymentCount: Integer(),
    avgOrderUsdc: Decimal,
    netToWalletUsdc: Decimal,
    refundedUsdc: Decimal,
    chart: List(
      Shape(
        { date: Type.String({ format: 'date' }), volumeUsdc: Decimal, paymentCount: Integer() },
        { title: 'StatsDay' },
      ),
    ),
  },
  {
    title: 'StatsResponse',
    description: 'Counted when the payout is confirmed, in UTC days; days without payments are included.',
  },
);

export const HealthResponse = Shape({ status: oneOf(['ok'], { title: 'HealthStatus' }) }, { title: 'HealthResponse' });
export const ReadinessResponse = Shape({ ready: Type.Boolean() }, { title: 'ReadinessResponse' });
