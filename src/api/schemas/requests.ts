/** Requests that create and change payments. */
import Type, { type Static, type TObject } from 'typebox';
import { lifetimeLeast_s, lifetimeMost_s } from '../../../domain/payment/create.ts';
import { intents } from '../../../domain/payment/intent.ts';
import { lineItemsMax, lineNameMax, lineQuantityMax } from '../../../domain/payment/lineItems.ts';
import { alternativesMax } from '../../../domain/payment/sources.ts';
import {
  AddressOrNull,
  AppId,
  ChainIdInput,
  closed,
  Decimal,
  DecimalOrNull,
  DisplayName,
  DisplayText,
  Identifier,
  IdentifierOrNull,
  Ignored,
  Memo,
  Metadata,
  oneOf,
  orNull,
  PaymentType,
  TokenSymbolInput,
  TxHash,
} from './base.ts';
import { DestinationResponse, PaymentResponse, SourceResponse } from './responses.ts';

const { Optional } = Type;

/** Answer fields that the request ignores: callers may send an answer back. */
function answered(answer: TObject, read: object): Record<never, never> {
  const names = Object.keys(answer.properties).filter((name) => !(name in read));
  return Object.fromEntries(names.map((name) => [name, Optional(Ignored)]));
}

const LineItemRequest = Type.Object(
  {
    name: DisplayName(lineNameMax),
    quantity: Type.Integer({
      minimum: 1,
      maximum: lineQuantityMax,
      description: `a whole number from 1 to ${lineQuantityMax}`,
    }),
    amount: Decimal,
  },
  { ...closed, title: 'LineItemRequest', description: 'amount is that of the whole line, not of one piece.' },
);

const DisplayRequest = Type.Object(
  {
    title: Optional(DisplayText(200)),
    name: Optional(DisplayText(200)),
    description: Optional(DisplayText(1_000)),
    currency: Optional(
      orNull(
        Type.Unsafe<string>({
          type: 'string',
          pattern: '^[A-Za-z]{3,8}$',
          description: 'a currency code such as USD, in any letter case',
        }),
      ),
    ),
    lineItems: Optional(
      orNull(
        Type.Array(LineItemRequest, {
          maxItems: lineItemsMax,
          description: `line items of the purchase, at most ${lineItemsMax}. Their amounts add up to the order’s: source.amount of exactIn, destination.amount of exactOut. Not with anyAmount. An extension.`,
        }),
      ),
    ),
  },
  {
    ...closed,
    title: 'DisplayRequest',
    description:
      'Shown to the payer. title and name mean the same (title wins). Stored permanently: send no personal data.',
  },
);

const tokenAddress = Optional(AddressOrNull);

const sourceProperties = {
  chainId: ChainIdInput,
  tokenSymbol: TokenSymbolInput,
  tokenAddress,
  amount: Optional(DecimalOrNull),
  senderAddress: Optional(AddressOrNull),
};

export const SourceRequest = Type.Object(
  { ...sourceProperties, ...answered(SourceResponse, sourceProperties) },
  {
    ...closed,
    title: 'SourceRequest',
    description:
      'Source of the payment. amount is for exactIn; exactOut computes it and ignores a sent one. tokenAddress may be sent and must be the token’s (any letter case; on Stellar USDC:G… or its issuer alone). Intent stellar_payin_contracts needs chainId 1500, tokenSymbol USDC and senderAddress, the Stellar address that will call the contract; elsewhere senderAddress may be omitted.',
  },
);

const destinationProperties = {
  chainId: Optional(orNull(ChainIdInput)),
  tokenSymbol: Optional(orNull(TokenSymbolInput)),
  tokenAddress,
  receiverAddress: Optional(AddressOrNull),
  receiverMemo: Optional(Memo),
  amount: Optional(DecimalOrNull),
};

export const DestinationRequest = Type.Object(
  { ...destinationProperties, ...answered(DestinationResponse, destinationProperties) },
  {
    ...closed,
    title: 'DestinationRequest',
    description:
      'Destination of the payout. A wallet_ app states chainId, tokenSymbol and receiverAddress. A merchant_ app leaves destination unset, or sends only amount for exactOut (exactIn computes it and ignores a sent one): its payouts go to its settlement wallet. receiverMemo is for Stellar accounts (G…), at most 28 bytes in UTF-8; contracts (C…), muxed addresses (M…) and EVM chains take none.',
  },
);

const Intent = oneOf(intents, {
  title: 'PaymentIntent',
  description:
    'stellar_payin_contracts: the customer calls pay(sender, amount, memo) of source.receiverAddressContract on Stellar with source.receiverMemoContract, or sends a plain payment to source.receiverAddress with source.receiverMemo as its memo. Source 1500 USDC; destination 8453, 42161, 137 or 501 with USDC, 56 or 1 with USDC or USDT. With anyAmount a payment outside 0.02 to 10,000 USDC bounces. Refused where the installation has no contract.',
});

/** Conditions name some fields only; linters would treat the object as closed otherwise. */
const having = (properties: object, required: readonly string[]) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: true,
});
const ofType = (type: string) => having({ type: { const: type } }, ['type']);
const withAmount = having({ amount: { type: 'string' } }, ['amount']);

/** `type` decides which amount is required. The command checks it, because its message names the type. */
const amountByType = {
  if: ofType('exactIn'),
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema; nothing awaits it
  then: having({ source: withAmount }, ['source']),
  else: {
    if: ofType('exactOut'),
    // biome-ignore lint/suspicious/noThenProperty: as above
    then: having({ destination: withAmount }, ['destination']),
  },
};

/** One more than the alternatives: the payment's own source may be among them. */
const payFromMax = alternativesMax + 1;
export const PayFrom = Type.Array(
  Type.Object(
    { chainId: ChainIdInput, tokenSymbol: TokenSymbolInput, tokenAddress, amount: Optional(Ignored) },
    { ...closed, title: 'PayFromRequest' },
  ),
  {
    maxItems: payFromMax,
    description: `sources that the payer may choose in addition to source, at most ${payFromMax}; the receiver gets the same from each. Default: the app’s settings. An empty list: no choice. Not with an intent. An extension.`,
  },
);

const ExpiresInSeconds = Type.Integer({
  minimum: lifetimeLeast_s,
  maximum: lifetimeMost_s,
  description: `time that payers have, ${lifetimeLeast_s} to ${lifetimeMost_s} seconds. Default: ${lifetimeMost_s}. Not without a key, and not with an intent. An extension.`,
});

const readProperties = {
  appId: Optional(orNull(AppId)),
  orderId: Optional(IdentifierOrNull),
  type: Optional(orNull(PaymentType)),
  intent: Optional(orNull(Intent)),
  display: Optional(orNull(DisplayRequest)),
  metadata: Optional(orNull(Metadata)),
  source: SourceRequest,
  destination: Optional(orNull(DestinationRequest)),
  payFrom: Optional(orNull(PayFrom)),
  expiresInSeconds: Optional(orNull(ExpiresInSeconds)),
};
const paymentProperties = { ...readProperties, ...answered(PaymentResponse, readProperties) };

export const CreatePaymentRequest = Type.Object(paymentProperties, {
  ...closed,
  title: 'CreatePaymentRequest',
  alsoShown: amountByType,
  description:
    'appId is needed only without a key. type may be omitted if the only amount determines it (exactIn or exactOut), or if an intent accepts any amount. Fields of a payment’s answer may be sent back: those that are no input are ignored. A repeated orderId returns its existing payment; an invalid body is 400 nevertheless.',
  examples: [
    {
      appId: 'wallet_demo',
      orderId: 'order-1001',
      type: 'exactOut',
      display: { title: 'Coffee beans', currency: 'USD' },
      source: { chainId: '8453', tokenSymbol: 'USDC' },
      destination: {
        chainId: '1',
        tokenSymbol: 'USDC',
        amount: '10.00',
        receiverAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      },
    },
    {
      appId: 'wallet_demo',
      orderId: 'order-1002',
      type: 'anyAmount',
      intent: 'stellar_payin_contracts',
      display: { title: 'Top up', currency: 'USD' },
      source: {
        chainId: '1500',
        tokenSymbol: 'USDC',
        senderAddress: 'GBRPYHIL2CI3FNQ4BXLFMNDLFJUNPU2HY3ZMFSHONUCEOASW7QC7OX2H',
      },
      destination: {
        chainId: '8453',
        tokenSymbol: 'USDC',
        receiverAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      },
    },
  ],
});
export type CreatePaymentRequest = Static<typeof CreatePaymentRequest>;

/** The same body at its shorter path. */
export const PaymentRequest = Type.Object(paymentProperties, {
  ...closed,
  title: 'PaymentRequest',
  alsoShown: amountByType,
  description: 'Alias of CreatePaymentRequest.',
});

export const PaymentUpdateRequest = Type.Object(
  { txHash: TxHash, fromAddress: Optional(AddressOrNull), senderAddress: Optional(AddressOrNull) },
  {
    ...closed,
    title: 'PaymentUpdateRequest',
    description:
      'The payin transaction and the buyer’s address, as fromAddress or under the name in answers, senderAddress. One of the two is required.',
  },
);
export type PaymentUpdateRequest = Static<typeof PaymentUpdateRequest>;

/** No format: a malformed id is answered like an unknown payment. */
export const PaymentPath = Type.Object(
  { id: Type.String({ description: 'The payment’s id, in any letter case. Another text is paymentNotFound, too.' }) },
  closed,
);
export const OrderPath = Type.Object({ appId: AppId, orderId: Identifier }, closed);
