/**
 * Every event of a payment, as it is stored: these schemas ARE the storage format and must be versioned with care.
 * Amounts are digit strings in the token's smallest unit, times are ISO 8601 UTC.
 */
import Type, { type Static } from 'typebox';
import { chainIds, tokenSymbols } from '../chains.ts';
import { Address, Amount, closed, Hash, Height, Id, JsonObject, nullable, oneOf, Text, Time } from '../schema.ts';

/**
 * 2: metadata is any JSON object; before, texts by name, which is one. 3: a payment may promise its payers cashback, or pay cashback out.
 * 4: payers may choose what they pay from; a bounce says which money it is about; an operator may hold a payout, have it tried again, and
 * declare an attempt dead; where payouts have no nonces, what they bear instead may be secret; a fee says whether it pays for the
 * receiver's account.
 */
export const paymentSchemaVersion = 4;

const Chain = oneOf(chainIds);
const Memo = nullable(Text(128));
const Attempt = Type.Integer({ minimum: 1, maximum: 10_000 });
/** Of an operator, for whoever asks why. */
const Reason = Type.String({ minLength: 1, maxLength: 400 });

export const TokenRef = Type.Object(
  { symbol: oneOf(tokenSymbols), address: Address, decimals: Type.Integer({ minimum: 0, maximum: 18 }) },
  closed,
);

export const paymentTypes = ['exactIn', 'exactOut', 'anyAmount'] as const;

export const Deposit = Type.Object(
  {
    /** Which scheme and version of it derived the address, so that old deposits stay sweepable. */
    scheme: Text(32),
    address: Address,
    memo: Memo,
    /** Stellar contract intent: the contract to call and the memo to pass, which is `memo` as well. Null there in older ones. */
    contract: nullable(Address),
    contractMemo: Memo,
    /** One-way derivation that the address was made from; never the payment id. */
    salt: Text(128),
  },
  closed,
);

const Fee = Type.Object(
  {
    /** In source units. */
    fixed: Amount,
    basisPoints: Type.Integer({ minimum: 0, maximum: 10_000 }),
    /** In source units; null for anyAmount until funded. */
    amount: nullable(Amount),
  },
  closed,
);
/** Bounds of what anyAmount accepts, in source units. */
const Limits = nullable(Type.Object({ min: Amount, max: Amount }, closed));

/** What a payment can be paid from, and what is paid there. */
const SourceTerms = Type.Object(
  { chainId: Chain, token: TokenRef, amount: nullable(Amount), fee: Fee, limits: Limits },
  closed,
);

/** A transfer that a chain shows. Its identity is (chainId, txHash, index). */
export const Transfer = Type.Object(
  {
    chainId: Chain,
    txHash: Hash,
    /** Place among the transaction's own logs or effects: it survives a re-inclusion in another block. */
    index: Type.Integer({ minimum: 0 }),
    blockNumber: Height,
    blockHash: Hash,
    blockTime: Time,
    token: TokenRef,
    from: Address,
    /** The account, or the payin contract that the payer called. */
    to: Address,
    /** What the payer wrote beside the address; missing where the chain has no memos. */
    memo: Type.Optional(Memo),
    amount: Amount,
  },
  closed,
);

export const bounceCodes = [
  'amountTooLow',
  'amountTooHigh',
  'latePayin',
  'wrongToken',
  'wrongChain',
  'otherSender',
  'payoutImpossible',
] as const;
/** cashback: a merchant's withdrawal, which the treasury holds already; nobody pays it in. */
export const fundingRules = ['agreed', 'overpaid', 'anyAmount', 'cashback'] as const;

const TransferId = Type.String({ minLength: 1, maxLength: 200 });

/** Signed bytes and all that is needed to send them again, replace them, or prove them dead. */
const SignedAttempt = {
  attempt: Attempt,
  chainId: Chain,
  account: Address,
  /** EVM nonce, Stellar sequence; null where a chain has none. */
  nonce: nullable(Height),
  hash: Hash,
  bytes: Type.String({ minLength: 2, maxLength: 8_192 }),
  /** Until when the chain can accept the bytes: a height or time in the chain's own terms; null = until replaced. */
  validUntil: nullable(Text(64)),
  /** The chain's fee terms, so that a bump can be compared with what it replaces. */
  fee: Type.Record(Type.String(), Type.String({ maxLength: 78 })),
  token: TokenRef,
  receiver: Address,
  receiverMemo: Memo,
  amount: Amount,
  signedAt: Time,
};

const DeathProof = Type.Object(
  {
    /** declared: nodes prove no more than that it cannot land any more; an operator has found out that it did not. */
    reason: oneOf(['nonceUsed', 'reverted', 'validityPassed', 'declared']),
    detail: Text(400),
  },
  closed,
);

const Settled = { attempt: Attempt, hash: Hash, blockNumber: Height, blockHash: Hash, confirmedAt: Time };

export const paymentEventSchemas = {
  PaymentCreated: Type.Object(
    {
      paymentId: Id,
      appId: Id,
      orderId: nullable(Text(128)),
      /** Created without a key (quick start): ends in payment_completed when source and destination chain are the same. */
      keyless: Type.Boolean(),
      type: oneOf(paymentTypes),
      intent: nullable(Type.Literal('stellar_payin_contracts')),
      display: Type.Object(
        { title: nullable(Text(200)), description: nullable(Text(1_000)), currency: nullable(Text(8)) },
        closed,
      ),
      metadata: nullable(JsonObject),
      source: Type.Object(
        { chainId: Chain, token: TokenRef, amount: nullable(Amount), senderAddress: nullable(Address) },
        closed,
      ),
      destination: Type.Object(
        { chainId: Chain, token: TokenRef, amount: nullable(Amount), receiverAddress: Address, receiverMemo: Memo },
        closed,
      ),
      fee: Fee,
      limits: Limits,
      /** What else the payer may pay from, so that the receiver gets the same; missing where there is nothing else. */
      alternatives: Type.Optional(Type.Array(SourceTerms, { minItems: 1, maxItems: 12 })),
      deposit: Deposit,
      /** How its payout is told apart on a chain without nonces; missing in those whose reference there is public. */
      payoutReference: Type.Optional(Type.Literal('secret')),
      /** Whether the fee pays for opening the receiver's account for the token. Left out where none is needed, and in older payments. */
      opensAccount: Type.Optional(Type.Boolean()),
      /** The share that its payers earn once it is completed; missing where it was none. */
      cashback_basisPoints: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
      webhookUrl: nullable(Text(2_048)),
      createdAt: Time,
      expiresAt: Time,
    },
    closed,
  ),
  /** The deposit is that of the chain's family: each family has one, disclosed when it is first chosen. */
  SourceChosen: Type.Object({ chainId: Chain, tokenAddress: Address, deposit: Deposit, chosenAt: Time }, closed),
  PayinRegistered: Type.Object({ txHash: Hash, senderAddress: Address, registeredAt: Time }, closed),
  PayinDetected: Type.Object({ transfer: Transfer }, closed),
  PayinOrphaned: Type.Object({ transferId: TransferId, blockHash: Hash }, closed),
  /** A counted payin vanished after its payment was funded: a loss, recorded for the operator. */
  PayinLost: Type.Object({ transferId: TransferId, amount: Amount }, closed),
  PayinConfirmed: Type.Object({ transfer: Transfer, confirmedAt: Time }, closed),
  PaymentFunded: Type.Object(
    {
      rule: oneOf(fundingRules),
      transferIds: Type.Array(TransferId, { minItems: 1, maxItems: 1_000 }),
      /** Which of the alternatives it is paid from; missing where it is what the payment was created with. */
      source: Type.Optional(Type.Object({ chainId: Chain, tokenAddress: Address }, closed)),
      /** All in source units, except payout in destination units: received = payout + fee + excess + dust. */
      received: Amount,
      sourceAmount: Amount,
      fee: Amount,
      excess: Amount,
      dust: Amount,
      payout: Amount,
      fundedAt: Time,
    },
    closed,
  ),
  PayoutRequested: Type.Object(
    {
      chainId: Chain,
      token: TokenRef,
      receiverAddress: Address,
      receiverMemo: Memo,
      amount: Amount,
      requestedAt: Time,
    },
    closed,
  ),
  PayoutSigned: Type.Object(SignedAttempt, closed),
  PayoutDied: Type.Object({ attempt: Attempt, proof: DeathProof }, closed),
  PayoutOrphaned: Type.Object({ attempt: Attempt, hash: Hash, blockHash: Hash }, closed),
  PayoutConfirmed: Type.Object(Settled, closed),
  PayoutHeld: Type.Object({ reason: Reason, heldAt: Time }, closed),
  PayoutRetried: Type.Object({ reason: Reason, retriedAt: Time }, closed),
  PaymentExpired: Type.Object({ chainTime: Time, expiredAt: Time }, closed),
  PaymentBounced: Type.Object(
    {
      code: oneOf(bounceCodes),
      received: Amount,
      /** Which money that is; missing where it is what the payment was created with, and in older ones. */
      asset: Type.Optional(Type.Object({ chainId: Chain, token: TokenRef }, closed)),
      bouncedAt: Time,
    },
    closed,
  ),
  RefundAddressSet: Type.Object({ address: Address, memo: Memo, setAt: Time }, closed),
  RefundRequested: Type.Object(
    {
      refund: Attempt,
      chainId: Chain,
      token: TokenRef,
      receiverAddress: Address,
      receiverMemo: Memo,
      amount: Amount,
      reason: Type.Union([Type.Literal('bounced'), Type.Literal('excess'), Type.Literal('held')]),
      requestedAt: Time,
    },
    closed,
  ),
  RefundSigned: Type.Object({ refund: Attempt, ...SignedAttempt }, closed),
  RefundDied: Type.Object({ refund: Attempt, attempt: Attempt, proof: DeathProof }, closed),
  RefundConfirmed: Type.Object({ refund: Attempt, ...Settled }, closed),
} as const;

type Schemas = typeof paymentEventSchemas;
export type PaymentEventType = keyof Schemas;
export type PaymentEventData<T extends PaymentEventType> = Static<Schemas[T]>;
export type PaymentEvent = {
  [T in PaymentEventType]: { readonly type: T; readonly data: PaymentEventData<T> };
}[PaymentEventType];
export type PaymentCreated = PaymentEventData<'PaymentCreated'>;
export type PaymentType = (typeof paymentTypes)[number];
export type BounceCode = (typeof bounceCodes)[number];
export type Transfer = Static<typeof Transfer>;
export type TokenRef = Static<typeof TokenRef>;
export type SourceTerms = Static<typeof SourceTerms>;
export type Deposit = Static<typeof Deposit>;
export type SignedAttempt = PaymentEventData<'PayoutSigned'>;
export type DeathProof = Static<typeof DeathProof>;

/** `8453:0xabc…:0` */
export const transferId = (transfer: Pick<Transfer, 'chainId' | 'txHash' | 'index'>): string =>
  `${transfer.chainId}:${transfer.txHash}:${transfer.index}`;
