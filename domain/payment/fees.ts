import {
  ceilTo,
  convertUp,
  type DollarUnit,
  dividedUp,
  floorTo,
  larger,
  type RouteDecimals,
  rescale,
  rescaleUp,
  type Units,
  units,
  usMillionth,
} from '../money.ts';

/** Fee = fixed + basis points, rounded down to what both tokens can represent. */
export interface FeePolicy {
  /** In the source token's smallest unit. */
  readonly fixed: bigint;
  readonly basisPoints: number;
  /** The operator allows a fee below the payout's cost. */
  readonly belowCost?: true;
}

const basisPointsOfOne = 10_000n;

const coarser = (route: RouteDecimals): number => Math.min(route.source, route.destination);

/**
 * @param base amount that the basis points apply to, in source units
 * @returns source units, representable in both tokens
 */
export function feeOn(base: bigint, policy: FeePolicy, route: RouteDecimals): Units {
  const exact = policy.fixed + (base * BigInt(policy.basisPoints)) / basisPointsOfOne;
  return floorTo(exact, route.source, coarser(route));
}

export interface Agreed {
  /** Amount that the customer pays, fee included, in source units. */
  readonly source: Units;
  readonly fee: Units;
  /** Amount that the merchant gets, in destination units. */
  readonly destination: Units;
}

/** exactIn: the customer pays `source`, the merchant gets the rest after the fee; undefined if nothing is left. */
export function agreeIn(source: bigint, policy: FeePolicy, route: RouteDecimals): Agreed | undefined {
  const fee = feeOn(source, policy, route);
  if (source <= fee) return undefined;
  return { source: units(source), fee, destination: rescale(source - fee, route.source, route.destination) };
}

/** exactOut: the merchant gets `destination`, the customer pays the fee on top. */
export function agreeOut(destination: bigint, policy: FeePolicy, route: RouteDecimals): Agreed {
  const net = rescale(destination, route.destination, route.source);
  const fee = feeOn(net, policy, route);
  return { source: units(net + fee), fee, destination: units(destination) };
}

/**
 * Minimum amount to receive for a payout.
 *
 * @param payout in destination units
 * @returns source units, representable in both tokens
 */
export function leastIn(payout: bigint, policy: FeePolicy, route: RouteDecimals): Units {
  const share = basisPointsOfOne - BigInt(policy.basisPoints);
  const before = rescaleUp(payout, route.destination, route.source) + policy.fixed;
  const exact = share > 0n ? dividedUp(before * basisPointsOfOne, share) : before * basisPointsOfOne;
  return ceilTo(exact, route.source, coarser(route));
}

export interface Split {
  readonly fee: bigint;
  readonly excess: bigint;
  readonly dust: bigint;
  /** In destination units. */
  readonly payout: bigint;
}

/** anyAmount: divides what arrived; received = payout + fee + dust, in source units. Undefined if nothing is left to pay out. */
export function splitAny(received: bigint, policy: FeePolicy, route: RouteDecimals): Split | undefined {
  const fee = feeOn(received, policy, route);
  if (received <= fee) return undefined;
  const payout = rescale(received - fee, route.source, route.destination);
  if (payout === 0n) return undefined;
  return { fee, excess: 0n, dust: received - fee - rescale(payout, route.destination, route.source), payout };
}

/** True if both tokens of the route can represent the amount exactly. */
export const fitsRoute = (amount: bigint, scale: number, route: RouteDecimals): boolean =>
  floorTo(amount, scale, coarser(route)) === amount;

// Cost of a payout on its chain. The payment's fee covers it, so costly payouts cannot drain the treasury.

export interface PayoutCost {
  /** In millionths of a dollar, rounded up. */
  readonly cost_microUsd: bigint;
  /** Minimum payout in millionths of a dollar. */
  readonly least_microUsd: bigint;
  /** True if the cost includes opening the receiver's account for the token; omitted if none is needed. */
  readonly opensAccount?: boolean;
}

/** Price of a chain's coin. */
export interface CoinPrice {
  /** Per whole coin. */
  readonly price_microUsd: bigint;
  readonly decimals: number;
}

/** @param amount in the coin's smallest unit */
export const coinInMicroUsd = (amount: bigint, { price_microUsd, decimals }: CoinPrice): bigint =>
  dividedUp(amount * price_microUsd, 10n ** BigInt(decimals));

/** The fee that covers the cost, unless it need not: its fixed part is the cost where that is more. @param token of the source */
export function coveringFee(policy: FeePolicy, token: DollarUnit, { cost_microUsd }: PayoutCost): FeePolicy {
  const cost = convertUp(cost_microUsd, usMillionth, token);
  return cost > policy.fixed && !policy.belowCost ? { ...policy, fixed: cost } : policy;
}

/** The least that a receiver is paid, in units of his token: never less than what paying it costs. */
export const leastPayout = (token: DollarUnit, { cost_microUsd, least_microUsd }: PayoutCost): bigint =>
  convertUp(larger(cost_microUsd, least_microUsd), usMillionth, token);
