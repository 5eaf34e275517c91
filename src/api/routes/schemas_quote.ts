/** What a payment would cost. */
import Type, { type Static } from 'typebox';
import { ChainId, Decimal, DecimalOrNull, orNull, PaymentType, TokenSymbol } from '../schemas/base.ts';
import { destinationProperties } from '../schemas/responses.ts';

const { Array: List, Integer, Object: Shape } = Type;

const QuotedSource = Shape(
  {
    chainId: ChainId,
    tokenSymbol: TokenSymbol,
    tokenAddress: Type.String(),
    amount: DecimalOrNull,
    fee: DecimalOrNull,
    feeFixed: Decimal,
    feeBasisPoints: Integer(),
    minAmount: DecimalOrNull,
    maxAmount: DecimalOrNull,
  },
  {
    title: 'QuotedSource',
    description:
      'amount is what the customer pays, fee included. For anyAmount amount and fee are null: minAmount and maxAmount say what is taken, and the fee of what comes is feeFixed and feeBasisPoints of it.',
  },
);

export const QuoteResponse = Shape(
  {
    type: PaymentType,
    source: QuotedSource,
    destination: Shape(destinationProperties, {
      title: 'QuotedDestination',
      description: 'amount is what the receiver would get.',
    }),
    payFrom: Type.Unsafe<Static<typeof QuotedSource>[] | null>(orNull(List(QuotedSource))),
  },
  {
    title: 'QuoteResponse',
    description:
      'What a payment would cost that is created now. It binds nobody: the payment has the fee of its own moment.',
  },
);
export type QuoteResponse = Static<typeof QuoteResponse>;
