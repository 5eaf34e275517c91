/** Units of floats in the tools: USDC of every chain in the decimals of the policy. */
import { type ChainId, chainOf, chains, findToken } from '../../domain/chains.ts';
import { formatAmount } from '../../domain/money.ts';
import type { FloatToken } from '../../queries/floats.ts';

/** The policy counts in this many decimals, as most chains do. */
export const decimals = 6;
/** Width of a line that shows a float's course. */
export const sparkColumns = 48;
export const tokens: readonly FloatToken[] = chains.flatMap((chain) => {
  const usdc = findToken(chain, 'USDC');
  return usdc ? [{ chainId: chain.id, address: usdc.address }] : [];
});

/** In the policy's decimals, rounded down. */
export function inPolicyDecimals(chainId: ChainId, units: bigint): bigint {
  const own = findToken(chainOf(chainId), 'USDC')?.decimals ?? decimals;
  return own >= decimals ? units / 10n ** BigInt(own - decimals) : units * 10n ** BigInt(decimals - own);
}

export const usd = (units: bigint): string => formatAmount(units, decimals);
