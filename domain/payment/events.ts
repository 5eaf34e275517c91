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
import { EndpointWebhookType, LaterWebhookType, laterWebhookTypesMax, webhookEndpointsMax } from '../webhook.ts';
import { PolicyTerms, policyRules, verdicts } from './amountPolicy.ts';
import { LineItem, lineItemsMax } from './lineItems.ts';
import {
  AddressProof,
  addressProofs,
  Chain,
  Deposit,
  Fee,
  FundedBy,
  fundedOutcomes,
  Limits,
  RefundRequest,
  SourceTerms,
  TokenRef,
  Transfer,
  TransferId,
} from './shapes.ts';

export { Deposit, SourceTerms, TokenRef, Transfer, transferId } from './shapes.ts';

/**
 * 2: metadata is any JSON object; before, texts by name. 3: a payment may promise cashback, or pay cashback out. 4: payers may choose a
 * source; a bounce names its money; an operator may hold, retry or bury a payout; the reference of a payout without nonces may be secret; a
 * fee says whether it opens the receiver's account. 5: a payout may land short, which an operator may accept. 6: a refund has a network
 * fee, a requester and a reason; its address has a proof; a policy for wrong amounts and its decisions; refunds have the same outcomes as
 * payouts; a bounce says why a payout is impossible. 7: a payout may join a batch. 8: a registered transaction may transfer no accepted
 * token to the payment. 9: the app may have chosen further types of webhooks. 10: an alternative's
 * fee states what rounding its price up adds; a payment may list what is bought. 11: an app may cancel a payment, and write a note and tags on it.
 * 12: an app may fund a refund of money that was paid out, by a payment of its own, and confirm a refund address for a sender;
 * the app may have further webhook endpoints.
 */
export const paymentSchemaVersion = 12;

/** A further webhook endpoint in a payment's terms. */
const EndpointTerms = Type.Object(
  {
    endpointId: Id,
    url: Text(2_048),
    types: Type.Array(EndpointWebhookType, { minItems: 1, maxItems: laterWebhookTypesMax }),
  },
  closed,
);
export type EndpointTerms = Static<typeof EndpointTerms>;

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
 * short: less than agreed, accepted by the app's policy. cashback: a merchant's withdrawal, which the treasury already holds and no payin
 * funds.
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
        {
          title: nullable(Text(200)),
          description: nullable(Text(1_000)),
          currency: nullable(Text(8)),
          /** Lines of the order; missing if the request has none. */
          lineItems: Type.Optional(Type.Array(LineItem, { minItems: 1, maxItems: lineItemsMax })),
        },
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
      /** Other sources with the same payout; omitted if there are none. */
      alternatives: Type.Optional(Type.Array(SourceTerms, { minItems: 1, maxItems: 12 })),
      /** The app's policy for wrong amounts; omitted if all of them are held. */
      policy: Type.Optional(PolicyTerms),
      deposit: Deposit,
      /** How the payout is identified on a chain without nonces; omitted if its reference there is public. */
      payoutReference: Type.Optional(Type.Literal('secret')),
      /** True if the fee pays for opening the receiver's account for the token. Omitted if none is needed, and in older payments. */
      opensAccount: Type.Optional(Type.Boolean()),
      /** Share that the payers earn on completion; omitted if none. */
      cashback_basisPoints: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
      /** The refund of another payment of the app that this payment funds and pays out; missing for a sale. */
      refundOf: Type.Optional(FundedBy),
      webhookUrl: nullable(Text(2_048)),
      /** Types of webhooks that the app chose in addition to the first two; missing if it chose none. */
      webhookTypes: Type.Optional(Type.Array(LaterWebhookType, { minItems: 1, maxItems: laterWebhookTypesMax })),
      /** Further endpoints of the app, each with the types that it gets; missing if the app had none. */
      webhookEndpoints: Type.Optional(Type.Array(EndpointTerms, { minItems: 1, maxItems: webhookEndpointsMax })),
      createdAt: Time,
      expiresAt: Time,
    },
    closed,
  ),
  /** Deposit of the chain's family: each family has one, disclosed at its first choice. */
  SourceChosen: Type.Object({ chainId: Chain, tokenAddress: Address, deposit: Deposit, chosenAt: Time }, closed),
  PayinRegistered: Type.Object({ txHash: Hash, senderAddress: Address, registeredAt: Time }, closed),
  /** The registered transaction succeeded, and a node returns no transfer of an accepted token to the payment's deposit in it. */
  RegisteredPayinEmpty: Type.Object({ txHash: Hash, foundAt: Time }, closed),
  PayinDetected: Type.Object({ transfer: Transfer }, closed),
  PayinOrphaned: Type.Object({ transferId: TransferId, blockHash: Hash }, closed),
  /** A counted payin vanished after funding: a loss, recorded for the operator. */
  PayinLost: Type.Object({ transferId: TransferId, amount: Amount }, closed),
  PayinConfirmed: Type.Object({ transfer: Transfer, confirmedAt: Time }, closed),
  PaymentFunded: Type.Object(
    {
      rule: oneOf(fundingRules),
      transferIds: Type.Array(TransferId, { minItems: 1, maxItems: 1_000 }),
      /** The alternative that funded the payment; omitted if it is the created source. */
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
  /** Verdict of the app's policy on wrong money; its consequences are separate events. */
  PolicyApplied: Type.Object(
    {
      rule: oneOf(policyRules),
      verdict: oneOf(verdicts),
      chainId: Chain,
      token: TokenRef,
      transferIds: Type.Array(TransferId, { minItems: 1, maxItems: 1_000 }),
      /** In the token's units: the amount due there, the amount of these transfers, and the amount under the verdict. */
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
  /** The payout joined a batch: nothing is signed for it alone until the batch releases it. Position among the members, from 1. */
  PayoutBatched: Type.Object(
    { batch: Id, position: Type.Integer({ minimum: 1, maximum: 50 }), batchedAt: Time },
    closed,
  ),
  PayoutReleased: Type.Object({ batch: Id, reason: Reason, releasedAt: Time }, closed),
  PayoutSigned: Type.Object(Signed, closed),
  PayoutDied: Type.Object({ attempt: Attempt, proof: DeathProof }, closed),
  PayoutOrphaned: Type.Object(Orphaned, closed),
  PayoutConfirmed: Type.Object(Settled, closed),
  /** The payout is final on its chain, and the receiver got less than ordered. */
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
      /** The bounced money; omitted if it is of the created source, and in older events. */
      asset: Type.Optional(Type.Object({ chainId: Chain, token: TokenRef }, closed)),
      /** Why a payout is impossible, in an operator's or the chain's words. Omitted otherwise, and in older events. */
      note: Type.Optional(Reason),
      bouncedAt: Time,
    },
    closed,
  ),
  RefundAddressSet: Type.Object(
    { address: Address, memo: Memo, setAt: Time, proof: Type.Optional(AddressProof) },
    closed,
  ),
  /** A person of the app confirmed where a sender's money may go back to, for example after an exchange's customer wrote to them. */
  RefundAddressConfirmed: Type.Object(
    {
      number: Attempt,
      sender: Address,
      /** A transfer of the sender to this payment: the address is valid on its chain. */
      transferId: TransferId,
      address: Address,
      memo: Memo,
      /** The event's cause: `developer:` and the person's id. */
      confirmedBy: Text(128),
      confirmedAt: Time,
      /** From then on refunds can be ordered to the address. Until then it can be withdrawn. */
      effectiveAt: Time,
    },
    closed,
  ),
  RefundAddressWithdrawn: Type.Object({ number: Attempt, withdrawnBy: Text(128), withdrawnAt: Time }, closed),
  /** The app refunds money that was paid out. Another payment of the app funds it and pays it to the receiver. */
  FundedRefundOrdered: Type.Object(
    {
      /** Sequence number among the payment's funded refunds, from 1. */
      refund: Attempt,
      fundingPaymentId: Id,
      chainId: Chain,
      token: TokenRef,
      receiverAddress: Address,
      receiverMemo: Memo,
      amount: Amount,
      proof: Type.Object({ sender: Address, by: oneOf(addressProofs) }, closed),
      requestKey: Id,
      note: Type.Optional(Reason),
      requestedAt: Time,
    },
    closed,
  ),
  /** paid: the funding payment has paid the receiver. unpaid: it ended without a payout, so the amount can be ordered again. */
  FundedRefundEnded: Type.Object({ refund: Attempt, outcome: oneOf(fundedOutcomes), endedAt: Time }, closed),
  RefundRequested: Type.Object(
    {
      refund: Attempt,
      chainId: Chain,
      token: TokenRef,
      receiverAddress: Address,
      receiverMemo: Memo,
      /** Amount that is sent. */
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
  /** The refund is not sent: its money can be ordered again. */
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
