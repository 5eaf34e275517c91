/** What the service answers. Amounts and chain ids are strings; what is not known yet is null, never left out. */
import Type, { type Static } from 'typebox';
import {
  AppId,
  ChainId,
  Decimal,
  DecimalOrNull,
  IdentifierOrNull,
  NullableText,
  oneOf,
  oneOfOrNull,
  PaymentErrorCode,
  PaymentStatus,
  PaymentType,
  StatsPeriod,
  Time,
  TimeOrNull,
  TokenSymbol,
  TxHashOrNull,
  Uuid,
  WebhookEventType,
} from './base.ts';

const { Array: List, Integer, Object: Shape } = Type;
const Null = Type.Null();
const nullableText = (description: string) => Type.Unsafe<string | null>({ type: ['string', 'null'], description });

export const DisplayInfo = Shape(
  { title: NullableText, name: NullableText, description: NullableText, currency: NullableText },
  { title: 'DisplayInfo', description: 'title and name are always equal.' },
);

export const SourceResponse = Shape(
  {
    chainId: ChainId,
    tokenSymbol: TokenSymbol,
    tokenAddress: Type.String(),
    amount: DecimalOrNull,
    receiverAddress: Type.String({ description: 'The deposit address: the customer pays here, or into the contract.' }),
    receiverMemo: nullableText(
      'Sent along with the payment, where the deposit address is shared; it tells whose payment it is.',
    ),
    fee: DecimalOrNull,
    senderAddress: nullableText('Who paid, once that is known; before, the sender that was announced.'),
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

export const DestinationResponse = Shape(
  {
    chainId: ChainId,
    receiverAddress: Type.String(),
    receiverMemo: NullableText,
    tokenSymbol: TokenSymbol,
    tokenAddress: Type.String(),
    amount: DecimalOrNull,
    txHash: TxHashOrNull,
    confirmedAt: TimeOrNull,
  },
  { title: 'DestinationResponse', description: 'amount is what the receiver gets.' },
);

const publicProperties = {
  id: Uuid,
  status: PaymentStatus,
  errorCode: PaymentErrorCode,
  errorMessage: NullableText,
  type: PaymentType,
  createdAt: Time,
  updatedAt: Time,
  expiresAt: Time,
  display: DisplayInfo,
  source: SourceResponse,
  destination: DestinationResponse,
};
const ownProperties = { ...publicProperties, appId: AppId, orderId: IdentifierOrNull, webhookSecret: Null };
const Merchant = Type.Unsafe<{ name: string | null; logoUrl: string | null } | null>({
  type: ['object', 'null'],
  properties: { name: NullableText, logoUrl: NullableText },
  description: 'branding of the hosted payment page',
});
const fullProperties = {
  ...ownProperties,
  metadata: Type.Unsafe<Readonly<Record<string, string>> | null>({
    type: ['object', 'null'],
    additionalProperties: { type: 'string' },
  }),
  webhookUrl: NullableText,
  webhookSecretSource: oneOfOrNull(['app']),
  paymentLink: NullableText,
  merchant: Merchant,
};

export const PaymentResponse = Shape(fullProperties, { title: 'PaymentResponse' });
export type PaymentResponse = Static<typeof PaymentResponse>;

export const PaymentFacts = Shape(ownProperties, {
  title: 'PaymentFacts',
  description: 'The payment without what belongs to its app: metadata, webhook settings, links.',
});
export type PaymentFacts = Static<typeof PaymentFacts>;

export const PublicPaymentResponse = Shape(publicProperties, {
  title: 'PublicPaymentResponse',
  description: 'What whoever holds the id may see: what to pay, until when, and how far it is.',
});
export type PublicPaymentResponse = Static<typeof PublicPaymentResponse>;

export const CreateResponse = Type.Union([PaymentResponse, PaymentFacts], {
  description: 'PaymentResponse with a key, PaymentFacts without.',
});
export const GetResponse = Type.Union([PaymentResponse, PublicPaymentResponse], {
  description: 'PaymentResponse with a key, PublicPaymentResponse without.',
});

export const PayinResponse = Shape(
  {
    ...fullProperties,
    success: Type.Boolean(),
    message: Type.String(),
    payment: Shape({
      id: Uuid,
      status: PaymentStatus,
      source: Shape({ txHash: TxHashOrNull, senderAddress: NullableText }),
    }),
  },
  { title: 'PayinResponse', description: 'The payment, and the short form of what was registered.' },
);

export const PaymentListResponse = Shape(
  {
    data: List(PaymentResponse),
    hasMore: Type.Boolean(),
    nextCursor: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Send it as cursor to read on; null at the end.',
    }),
  },
  { title: 'PaymentListResponse', description: 'Newest first.' },
);

const Transaction = Shape(
  {
    kind: oneOf(['payin', 'payout', 'refund']),
    chainId: ChainId,
    txHash: Type.String(),
    index: Integer({ description: 'Payin: place among the transaction’s own logs. Payout and refund: the attempt.' }),
    status: Type.String({
      description: 'payin: detected, confirmed, orphaned, lost. payout and refund: live, settled, dead, lapsed.',
    }),
    standing: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'payin: counted towards the payment, or held (late, surplus, wrongToken, wrongChain)',
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

export const StatsResponse = Shape(
  {
    period: StatsPeriod,
    volumeUsdc: Decimal,
    paymentCount: Integer(),
    avgOrderUsdc: Decimal,
    netToWalletUsdc: Decimal,
    chart: List(Shape({ date: Type.String({ format: 'date' }), volumeUsdc: Decimal, paymentCount: Integer() })),
  },
  {
    title: 'StatsResponse',
    description: 'Counted when the payout is confirmed, in UTC days; days without payments are included.',
  },
);

export const DeliveriesResponse = Shape(
  {
    data: List(
      Shape(
        {
          deliveryId: Uuid,
          paymentId: Uuid,
          eventType: WebhookEventType,
          statusCode: Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
          responsePreview: NullableText,
          deliveredAt: TimeOrNull,
          status: oneOf(['delivered', 'exhausted']),
          attemptNumber: Integer({ minimum: 1, maximum: 1 }),
        },
        { title: 'WebhookDelivery' },
      ),
    ),
  },
  { title: 'DeliveriesResponse', description: 'Newest first.' },
);

export const WebhookEvent = Shape(
  { event_id: Uuid, type: WebhookEventType, timestamp: Time, data: PaymentFacts },
  {
    title: 'WebhookEvent',
    description:
      'event_id is the delivery’s id: use it to recognise a repetition. data is the payment as it was at the event.',
  },
);

export const HealthResponse = Shape({ status: oneOf(['ok']) }, { title: 'HealthResponse' });
export const ReadinessResponse = Shape({ ready: Type.Boolean() }, { title: 'ReadinessResponse' });
