/** What happened to a payment, told to its owner: each of its events and each webhook about it, in order, as typed facts. */
import type { ChainId, TokenSymbol } from '../domain/chains.ts';
import type { BounceCode, DeathProof, PaymentEventData } from '../domain/payment/events.ts';
import type { Standing } from '../domain/payment/state.ts';
import type { Attempt } from '../domain/payment/transfer.ts';
import type { PaymentStatus, PaymentView } from '../domain/payment/view.ts';
import type { Instant } from '../domain/time.ts';

export interface PaymentStory {
  readonly payment: PaymentView;
  /** Oldest first. */
  readonly entries: readonly StoryEntry[];
}

export type StoryEntry = {
  readonly at: Instant;
  /** Of the payment after this; null for what happens beside it, a webhook. */
  readonly status: PaymentStatus | null;
} & Fact;

/** Whole tokens as a decimal text. */
export interface Money {
  readonly amount: string;
  readonly tokenSymbol: TokenSymbol;
}

interface PayinFact extends Money {
  readonly chainId: ChainId;
  readonly txHash: string;
  readonly from: string;
  readonly blockNumber: string;
  readonly standing: Standing;
}

/** Of a payout, or of the nth refund. */
interface Leg {
  readonly leg: 'payout' | 'refund';
  /** 1, 2, … of a refund; null for the payout. */
  readonly refund: number | null;
}

interface AttemptFact extends Leg {
  readonly attempt: number;
  readonly chainId: ChainId;
  readonly txHash: string;
}

export type Fact =
  | {
      readonly type: 'created';
      /** Null for anyAmount. */
      readonly pays: Money | null;
      readonly gets: Money | null;
      readonly sourceChainId: ChainId;
      readonly destinationChainId: ChainId;
      readonly expiresAt: Instant;
    }
  | { readonly type: 'payinRegistered'; readonly txHash: string; readonly senderAddress: string }
  /** `confirmations` as far as the chain has been read by now, the transfer's own block included; null where it is not known. */
  | ({ readonly type: 'payinDetected'; readonly confirmations: number | null } & PayinFact)
  | ({ readonly type: 'payinConfirmed' } & PayinFact)
  /** Its block left the chain; `payinLost` when it had funded the payment. */
  | ({ readonly type: 'payinOrphaned' | 'payinLost' } & PayinFact)
  | {
      readonly type: 'funded';
      readonly rule: PaymentEventData<'PaymentFunded'>['rule'];
      readonly received: Money;
      readonly fee: Money;
      /** Over the agreed amount: held, can be refunded. */
      readonly excess: Money;
      /** What the destination's token cannot express. */
      readonly dust: Money;
      readonly payout: Money;
    }
  | ({
      readonly type: 'ordered';
      readonly money: Money;
      readonly chainId: ChainId;
      readonly receiverAddress: string;
      readonly receiverMemo: string | null;
      /** Why it goes back; null for the payout. */
      readonly reason: PaymentEventData<'RefundRequested'>['reason'] | null;
    } & Leg)
  /** `fate` is what became of the attempt by now. */
  | ({
      readonly type: 'signed';
      readonly account: string;
      readonly nonce: string | null;
      readonly fate: Attempt['fate'];
    } & AttemptFact)
  | ({ readonly type: 'died'; readonly proof: DeathProof['reason'] } & AttemptFact)
  /** Its block left the chain: the same bytes are sent again. */
  | ({ readonly type: 'left' } & AttemptFact)
  | ({ readonly type: 'settled'; readonly blockNumber: string } & AttemptFact)
  | { readonly type: 'expired'; readonly chainTime: Instant }
  | { readonly type: 'bounced'; readonly code: BounceCode; readonly received: Money }
  | { readonly type: 'refundAddressSet'; readonly address: string; readonly memo: string | null }
  | {
      readonly type: 'webhook';
      readonly deliveryId: string;
      readonly eventType: string;
      readonly delivery: 'delivered' | 'exhausted';
      readonly statusCode: number | null;
      readonly error: string | null;
      /** Null while no outcome is recorded. */
      readonly duration_ms: number | null;
    }
  /** An event of a type that this version does not know. */
  | { readonly type: 'other'; readonly name: string };
