/**
 * Every event of a payment, as it is stored: these schemas ARE the storage format and must be versioned with care.
 * Amounts are digit strings in the token's smallest unit, times are ISO 8601 UTC.
 */
import Type, { type Static } from 'typebox';
import { Address, Amount, closed, Hash, Id, JsonObject, nullable, oneOf, Text, Time } from '../schema.ts';
import {
  Attempt,
  DeathProof,
  Memo,
  Orphaned,
  Reason,
  Settled,
  Short,
  SignedAttempt as Signed,
} from '../transfer/shapes.ts';
import { PolicyTerms, policyRules, verdicts } from './amountPolicy.ts';
import { AddressProof, RefundRequest } from './refundShapes.ts';
import { Chain, Deposit, Fee, Limits, SourceTerms, TokenRef, Transfer, TransferId } from './shapes.ts';

export { Deposit, SourceTerms, TokenRef, Transfer, transferId } from './shapes.ts';

/**
 * 2: metadata is any JSON object; before, texts by name, which is one. 3: a payment may promise its payers cashback, or pay cashback out.
 * 4: payers may choose what they pay from; a bounce says which money it is about; an operator may hold a payout, have it tried again, and
 * declare an attempt dead; where payouts have no nonces, what they bear instead may be secret; a fee says whether it pays for the
 * receiver's account. 5: a payout may land with less than was ordered, which an operator may accept. 6: a refund says what sending it costs,
 * who asked for it and why; its address says how it was proven; an app's policy for money that is not what was agreed, and what was decided
 * by it; all that may become of a transfer may become of a refund; a bounce says why a payout is impossible. 7: a payout may be paid with
 * others in one transaction. 8: a registered transaction may transfer no accepted token to the payment. 9: an app may cancel a payment, and
 * write a note and tags on it.
 */
export const paymentSchemaVersion = 9;

export const paymentTypes = ['exactIn', 'exactOut', 'anyAmount'] as const;

export const bounceCodes = [
  'amountTooLow',
  'amountTooHigh',
  'latePayin',
  'wrongToken',
  'wrongChain',
  'otherSender',
  'payoutImpossible',
] as const;
/**
 * short: less than agreed, which the app's policy takes. cashback: a merchant's withdrawal, which the treasury holds already; nobody pays
 * it in.
 */
export const fundingRules = ['agreed', 'overpaid', 'anyAmount', 'short', 'cashback'] as const;

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
      /** Of the app, for money that is not what was agreed; missing where all of it is held. */
      policy: Type.Optional(PolicyTerms),
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
  /** The registered transaction succeeded, and a node returns no transfer of an accepted token to the payment's deposit in it. */
  RegisteredPayinEmpty: Type.Object({ txHash: Hash, foundAt: Time }, closed),
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
  /** What the app's policy says of money that is not what was agreed; what follows from it stands in the events around it. */
  PolicyApplied: Type.Object(
    {
      rule: oneOf(policyRules),
      verdict: oneOf(verdicts),
      chainId: Chain,
      token: TokenRef,
      transferIds: Type.Array(TransferId, { minItems: 1, maxItems: 1_000 }),
      /** In the token's units: what was due there, what these transfers brought, and what the verdict is about. */
      expected: nullable(Amount),
      received: Amount,
      amount: Amount,
      decidedAt: Time,
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
  /** It is paid with others: nothing is signed for it by itself until the batch lets it go. Its place among the members, from 1. */
  PayoutBatched: Type.Object(
    { batch: Id, position: Type.Integer({ minimum: 1, maximum: 50 }), batchedAt: Time },
    closed,
  ),
  PayoutReleased: Type.Object({ batch: Id, reason: Reason, releasedAt: Time }, closed),
  PayoutSigned: Type.Object(Signed, closed),
  PayoutDied: Type.Object({ attempt: Attempt, proof: DeathProof }, closed),
  PayoutOrphaned: Type.Object(Orphaned, closed),
  PayoutConfirmed: Type.Object(Settled, closed),
  /** It is on its chain for good, and less than was ordered reached the receiver. */
  PayoutShort: Type.Object(Short, closed),
  PayoutAccepted: Type.Object({ reason: Reason, acceptedAt: Time }, closed),
  PayoutHeld: Type.Object({ reason: Reason, heldAt: Time }, closed),
  PayoutRetried: Type.Object({ reason: Reason, retriedAt: Time }, closed),
  /** The app ended the time to pay early. `expiresAt`: the new end, by the chains' clocks. */
  PaymentCancelled: Type.Object({ expiresAt: Time, cancelledAt: Time }, closed),
  /** For the people of the app alone. Replaces the note and the tags from before. */
  PaymentAnnotated: Type.Object(
    { note: nullable(Text(1_000)), tags: Type.Array(Text(32), { maxItems: 10 }), annotatedAt: Time },
    closed,
  ),
  PaymentExpired: Type.Object({ chainTime: Time, expiredAt: Time }, closed),
  PaymentBounced: Type.Object(
    {
      code: oneOf(bounceCodes),
      received: Amount,
      /** Which money that is; missing where it is what the payment was created with, and in older ones. */
      asset: Type.Optional(Type.Object({ chainId: Chain, token: TokenRef }, closed)),
      /** Why a payout is impossible: in an operator's words, or the chain's. Missing otherwise, and in older ones. */
      note: Type.Optional(Reason),
      bouncedAt: Time,
    },
    closed,
  ),
  RefundAddressSet: Type.Object(
    { address: Address, memo: Memo, setAt: Time, proof: Type.Optional(AddressProof) },
    closed,
  ),
  RefundRequested: Type.Object(
    {
      refund: Attempt,
      chainId: Chain,
      token: TokenRef,
      receiverAddress: Address,
      receiverMemo: Memo,
      /** What is sent. */
      amount: Amount,
      reason: Type.Union([Type.Literal('bounced'), Type.Literal('excess'), Type.Literal('held')]),
      requestedAt: Time,
      ...RefundRequest,
    },
    closed,
  ),
  RefundSigned: Type.Object({ refund: Attempt, ...Signed }, closed),
  RefundDied: Type.Object({ refund: Attempt, attempt: Attempt, proof: DeathProof }, closed),
  RefundConfirmed: Type.Object({ refund: Attempt, ...Settled }, closed),
  RefundOrphaned: Type.Object({ refund: Attempt, ...Orphaned }, closed),
  RefundShort: Type.Object({ refund: Attempt, ...Short }, closed),
  RefundAccepted: Type.Object({ refund: Attempt, reason: Reason, acceptedAt: Time }, closed),
  RefundRetried: Type.Object({ refund: Attempt, reason: Reason, retriedAt: Time }, closed),
  /** It is not sent: what it took can be ordered back again. */
  RefundCalledOff: Type.Object({ refund: Attempt, reason: Reason, calledOffAt: Time }, closed),
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
