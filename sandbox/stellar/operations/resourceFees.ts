/** What a contract call costs here, in stroops: nothing is metered. */

/** For instructions and reads; charged whatever comes of the call. */
export const nonRefundableFee = 55_500n;

/** Announced for events and rent. A call gets back what it did not use, a failed one all of it. */
export const refundableFee = 4_500n;

/** What a call that succeeds uses of the refundable part. */
export const usedRefundableFee = 50n;

/** The least `resourceFee` that simulations announce. */
export const announcedResourceFee = nonRefundableFee + refundableFee;
