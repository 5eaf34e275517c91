/** Facts of a payment's history, one per event. */
import type { ChainId, TokenSymbol } from '../domain/chains.ts';
import type { PolicyRule, Verdict } from '../domain/payment/amountPolicy.ts';
import type { BounceCode, PaymentEventData } from '../domain/payment/events.ts';
import type { Standing } from '../domain/payment/sources.ts';
import type { Instant } from '../domain/time.ts';
import type { Attempt } from '../domain/transfer/leg.ts';
import type { DeathProof } from '../domain/transfer/shapes.ts';

/** Whole tokens as a decimal text. */
export interface Money {
  readonly amount: string;
  readonly tokenSymbol: TokenSymbol;
}

export interface PayinFact extends Money {
  readonly chainId: ChainId;
  readonly txHash: string;
  readonly from: string;
  readonly blockNumber: string;
  readonly standing: Standing;
}

/** A payout, or the nth refund. */
export interface LegFact {
  readonly leg: 'payout' | 'refund';
  /** Sequence number of a refund; null for the payout. */
  readonly refund: number | null;
}

interface AttemptFact extends LegFact {
  readonly attempt: number;
  readonly chainId: ChainId;
  readonly txHash: string;
}

export type PaymentFact =
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
