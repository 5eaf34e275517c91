/** Cost of a contract call here, in stroops: nothing is metered. */

/** For instructions and reads; charged with any outcome. */
export const nonRefundableFee = 55_500n;

/** Reserved for events and rent. A call gets the unused part refunded, a failed one all of it. */
export const refundableFee = 4_500n;

/** Part that a successful call uses. */
export const usedRefundableFee = 50n;

/** The minimum `resourceFee` of simulations. */
export const announcedResourceFee = nonRefundableFee + refundableFee;
