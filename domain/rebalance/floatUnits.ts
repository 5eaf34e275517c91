/** Units and limits of floats: a token of every chain in the decimals of the policy. */
import { type Chain, type ChainId, chainOf, chains, findHeldToken } from '../chains.ts';
import { formatAmount, parseAmount } from '../money.ts';
import type { FloatLimits } from './policy.ts';
import type { FloatSymbol } from './protocols.ts';

/** The policy counts in this many decimals, as most chains do. */
export const decimals = 6;
/** Width of a line that shows a float's course. */
export const sparkColumns = 48;
/** The token on each chain that has it. */
export const tokensOf = (symbol: FloatSymbol): readonly { readonly chainId: ChainId; readonly address: string }[] =>
  chains.flatMap((chain) => {
    const token = findHeldToken(chain, symbol);
    return token ? [{ chainId: chain.id, address: token.address }] : [];
  });

/** In the policy's decimals, rounded down. */
export function inPolicyDecimals(chainId: ChainId, symbol: string, units: bigint): bigint {
  const own = findHeldToken(chainOf(chainId), symbol)?.decimals ?? decimals;
  return own >= decimals ? units / 10n ** BigInt(own - decimals) : units * 10n ** BigInt(decimals - own);
}

export const usd = (units: bigint): string => formatAmount(units, decimals);

/** @throws RangeError for a text that is no amount of dollars */
export function parseDollars(text: string): bigint {
  const units = parseAmount(text, decimals);
  if (typeof units !== 'bigint') throw new RangeError('write an amount in dollars, such as 5000.');
  return units;
}

/**
 * Reads `<chain>:<minimum>:<target>:<maximum>` in dollars.
 * @throws RangeError with the reason
 */
export function parseFloatLimits(
  text: string,
  chainNamed: (name: string) => Chain | undefined,
  symbol: FloatSymbol = 'USDC',
): readonly [ChainId, FloatLimits] {
  const [name = '', ...amounts] = text.split(':');
  const chain = chainNamed(name);
  if (!chain || amounts.length !== 3)
    throw new RangeError('write <chain>:<minimum>:<target>:<maximum>, such as 8453:1000:5000:20000.');
  if (!findHeldToken(chain, symbol)) throw new RangeError(`${chain.name} has no ${symbol}.`);
  const [minimum = 0n, target = 0n, maximum = 0n] = amounts.map(parseDollars);
  if (minimum > target || target > maximum || target === 0n)
    throw new RangeError('the minimum is at most the target, and the target at most the maximum.');
  return [chain.id, { minimum, target, maximum }];
}
