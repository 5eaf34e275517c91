/** Tokens as events state them, beside the catalogue: a wrong number of decimals makes another amount of the same units. */
import { type ChainId, chains, tokenAt } from '../../domain/chains.ts';
import { coinAddress, coinOf } from '../../domain/coins.ts';

interface Stated {
  readonly symbol?: unknown;
  readonly address?: unknown;
  readonly decimals?: unknown;
}

/** Depth of an event's data: deeper objects state no token. */
const depthMax = 6;

/**
 * Returns why a token of the event is not the catalogue's; null if each one is. An object that has a token also has the token's chain.
 * @param chainId of the object around
 */
export function tokenMisfit(data: unknown, chainId: unknown = undefined, depth = 0): string | null {
  if (typeof data !== 'object' || data === null || depth > depthMax) return null;
  const own = (data as { readonly chainId?: unknown }).chainId ?? chainId;
  const misfit = misfitOf(data, own);
  if (misfit !== null) return misfit;
  for (const value of Object.values(data)) {
    const found = tokenMisfit(value, own, depth + 1);
    if (found !== null) return found;
  }
  return null;
}

/** Tokens that the catalogue does not have are not judged here: no chain is read for them. */
function misfitOf({ symbol, address, decimals }: Stated, chainId: unknown): string | null {
  if (typeof address !== 'string' || typeof decimals !== 'number') return null;
  const chain = chains.find(({ id }) => id === chainId);
  const known = chain && (address === coinAddress ? coinOf(chain.id as ChainId) : tokenAt(chain, address));
  if (!known || (known.symbol === symbol && known.decimals === decimals)) return null;
  return `${String(symbol)} at ${address} has ${decimals} decimals here; the catalogue has ${known.symbol} with ${known.decimals}`;
}
