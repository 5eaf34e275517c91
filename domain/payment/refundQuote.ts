/** What refunds would come to, before anything is ordered. Amounts in smallest units. */
import type { Refundable } from './refund.ts';
import type { OwnMoney, PlannedRefund } from './refundOrder.ts';

/** Money that can go back. */
export interface Held extends Refundable {
  /** What of it goes back without the operator: its senders have proven where to. */
  readonly proven: bigint;
  /** What sending it back to one receiver costs; null while nobody can tell. */
  readonly networkFee: bigint | null;
  readonly owners: readonly OwnMoney[];
}

/** What would be sent, and what that costs besides. */
export interface PricedRefund extends PlannedRefund {
  readonly networkFee: bigint;
}
