export const lower = (a: bigint, b: bigint): bigint => (b < a ? b : a);
export const higher = (a: bigint, b: bigint): bigint => (b > a ? b : a);
