/** Decides whether an account still has enough play money. `full` is the amount of the first start; both in smallest units. */
export type IsEnough = (has: bigint, full: bigint) => boolean;

/** On the sandbox's chains and real nodes: an account is topped up when most is spent. */
export const mostIsLeft: IsEnough = (has, full) => has >= full / 2n;

/** On a developer's own node: any balance is enough. */
export const anyIsLeft: IsEnough = (has) => has > 0n;
