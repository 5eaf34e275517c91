/** Refunds: requests, orders and quotes. */
import Type, { type Static } from 'typebox';
import { refundAskers, refundScopes } from '../../../domain/payment/refundShapes.ts';
import { refundStatuses } from '../../../domain/payment/view.ts';
import {
  Address,
  ChainId,
  ChainIdInput,
  closed,
  Decimal,
  DecimalOrNull,
  Identifier,
  NullableText,
  oneOf,
  orNull,
  Text,
  Time,
  TimeOrNull,
  TokenSymbol,
  TxHashOrNull,
} from './base.ts';

const { Object: Shape, Optional } = Type;

/** Reasons why refundable money is held. */
const reasons = ['bounced', 'excess', 'held'] as const;
const RefundReason = oneOf(reasons, {
  title: 'RefundReason',
  description:
    'bounced: the payment ended without a payout. excess: more arrived than was due. held: money that did not count.',
});

export const RefundResponse = Shape(
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
export type RefundResponse = Static<typeof RefundResponse>;

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
