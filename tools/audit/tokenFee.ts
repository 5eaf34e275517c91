/** Tokens that keep a part of each transfer. */
import { type ChainId, chainOf, tokenAt } from '../../domain/chains.ts';

/**
 * The most that a token keeps of a transfer, in its smallest units; 0n for a token that keeps nothing. USDT's contract on Ethereum refuses a
 * fee of 20 basis points or more, and one of 50 dollars or more (`setParams`). Other tokens of the catalogue have no fee. The numbers are
 * written down here once more, on purpose.
 */
export function tokenFeeMax(chainId: ChainId, asset: string, amount: bigint): bigint {
  const token = chainId === 1 ? tokenAt(chainOf(chainId), asset) : undefined;
  if (token?.symbol !== 'USDT') return 0n;
  const [rated, most] = [(amount * 19n) / 10_000n, 49n * 10n ** BigInt(token.decimals)];
  return rated < most ? rated : most;
}
