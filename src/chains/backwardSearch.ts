/** Searches the final blocks of a chain for one transaction, from the newest block back. Nodes limit the blocks of one range. */
import { boundedMap } from '../lib/cache.ts';
import { higher } from '../lib/concurrency.ts';
import type { BlockRange } from './historyPages.ts';

/** Maximum ranges of one call. The next call continues where the last one stopped. */
export const rangesPerCallMax = 50;
/** Maximum searches whose place is remembered, of all nodes. A search without a place begins anew. */
const placesMax = 1_000;

/** One pass over the past. Blocks after `below` up to `seen` hold nothing. */
interface Pass {
  readonly seen: bigint;
  readonly below: bigint;
  /** Oldest block of this pass. */
  readonly end: bigint;
  /** Number of ranges. */
  readonly depth: bigint;
}

export type BackwardSearch = <T>(
  key: string,
  /** Final blocks that the node has. */
  blocks: { readonly oldest: bigint; readonly newest: bigint },
  /** Undefined: the range holds nothing. */
  read: (range: BlockRange) => Promise<T | undefined>,
) => Promise<T | undefined>;

/**
 * Each call first reads the blocks that are new since the last call, then continues back from the oldest block that was read. A call after a
 * find returns the find again, because other nodes may find it later.
 *
 * The first pass has the depth of one call, and each further pass twice the depth of the last one: nodes omit logs of new blocks for a while,
 * so new blocks are read again before very old ones. Passes are in memory. A restart begins with the first pass.
 * @param rangeBlocksMax maximum blocks of one range
 */
export function createBackwardSearch(rangeBlocksMax: number): BackwardSearch {
  const size = BigInt(rangeBlocksMax);
  const passes = boundedMap<Pass>(placesMax);

  return async (key, { oldest, newest }, read) => {
    let left = rangesPerCallMax;
    /** Reads back from `start` to `end`. Returns the find, and the last block of the range that was read last or is next. */
    async function back(start: bigint, end: bigint) {
      let to = start;
      for (; left > 0 && to >= end; to -= size, left -= 1) {
        const found = await read({ from: higher(to - size + 1n, end), to });
        if (found !== undefined) return { found, at: to };
      }
      return { found: undefined, at: to };
    }
    const begun = (depth: bigint): Pass => {
      const end = higher(newest - size * depth + 1n, oldest);
      return { seen: newest, below: newest, end, depth };
    };

    const known = passes.get(key);
    const isOver = known !== undefined && known.below < known.end;
    // After the oldest block, and if one call cannot read the blocks that are new, the search begins anew.
    const isWhole = isOver && known.end <= oldest;
    const isFar = known !== undefined && newest - known.seen >= size * BigInt(rangesPerCallMax);
    const pass =
      known === undefined || isWhole || isFar
        ? begun(BigInt(rangesPerCallMax))
        : isOver
          ? begun(2n * known.depth)
          : known;
    const fresh = await back(newest, pass.seen + 1n);
    if (fresh.found !== undefined) return fresh.found;
    const { found, at } = await back(pass.below, pass.end);
    passes.set(key, { ...pass, seen: higher(newest, pass.seen), below: at });
    return found;
  };
}
