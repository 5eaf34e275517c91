/** Amounts of several assets together. */

/** By asset, in smallest units; what is nought may be missing. */
export type Amounts = Readonly<Record<string, bigint>>;

export const amountsIn = (texts: Readonly<Record<string, string>>): Amounts =>
  Object.fromEntries(Object.entries(texts).map(([asset, units]) => [asset, BigInt(units)]));

export const textsOf = (amounts: Amounts): Record<string, string> =>
  Object.fromEntries(Object.entries(amounts).map(([asset, units]) => [asset, units.toString()]));

export function plus(a: Amounts, b: Amounts, sign: 1n | -1n = 1n): Amounts {
  const assets = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries([...assets].map((asset) => [asset, (a[asset] ?? 0n) + sign * (b[asset] ?? 0n)]));
}

/** Those that are not nought. */
export const nonZero = (amounts: Amounts): Amounts =>
  Object.fromEntries(Object.entries(amounts).filter(([, units]) => units !== 0n));

export const isNothing = (amounts: Amounts): boolean => Object.values(amounts).every((units) => units === 0n);
