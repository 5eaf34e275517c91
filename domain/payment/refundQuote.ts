/** Quote of refunds before an order. Amounts in smallest units. */

import type { Refundable } from './refund.ts';
import type { OwnMoney, PlannedRefund } from './refundOrder.ts';

/** Refundable money. */
export interface RefundableMoney extends Refundable {
  /** Part that can be refunded without the operator: its senders have proven addresses. */
  readonly proven: bigint;
  /** Network fee of one refund; null if it is unknown. */
  readonly networkFee: bigint | null;
  readonly owners: readonly OwnMoney[];
}

/** Amount to send, and its network fee. */
export interface PricedRefund extends PlannedRefund {
  readonly networkFee: bigint;
}
