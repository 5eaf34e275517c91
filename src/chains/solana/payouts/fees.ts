import type { ChainNode } from '../../node/jsonRpc.ts';
import { type SolanaFees, signatureFee } from '../config.ts';
import { recentPrices } from '../reads.ts';

/** In three of four recent slots, transactions on these accounts offered no more. */
const percentile = 0.75;

/** What to offer for a compute unit now, within the configured bounds. @param accounts that the transaction writes to */
export async function freshPrice(
  node: ChainNode,
  accounts: readonly string[],
  { priceMin_microLamports: least, priceMax_microLamports: most }: SolanaFees,
): Promise<bigint> {
  const prices = await recentPrices(node, accounts);
  const sorted = prices.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const usual = sorted[Math.floor(sorted.length * percentile)] ?? 0n;
  return usual < least ? least : usual > most ? most : usual;
}

const microLamports = 1_000_000n;

/** Lamports that a transaction can cost at most, what it stores apart. */
export const feeOf = (units: number, price_microLamports: bigint, signatures: number): bigint =>
  signatureFee * BigInt(signatures) + (BigInt(units) * price_microLamports + microLamports - 1n) / microLamports;
