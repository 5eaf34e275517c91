/** Reads blocks again that were read, or missed, before: records payments to us that the log does not have yet. */
import type { Pass, ScannedRange } from '../../../commands/chainPorts.ts';
import { lower } from '../../lib/concurrency.ts';
import { type HandledTransfer, handleRange, holdsAnything, type PayinOutcome, type RangeDeps } from './range.ts';

export interface RescanDeps extends RangeDeps {
  readonly onProgress?: (pass: Pass, blockNumber: bigint, to: bigint) => void;
}

/** Both ends are inclusive. Default of `to`: the chain's current end. */
export interface Blocks {
  readonly from: bigint;
  readonly to?: bigint | undefined;
}

export interface Rescanned {
  /** Number of transfers to us per outcome. */
  readonly counts: Readonly<Record<PayinOutcome, number>>;
  /** New transfers to us, up to a maximum. */
  readonly news: readonly HandledTransfer[];
  /** Blocks that no node remembers. */
  readonly missed: readonly NonNullable<ScannedRange['missed']>[];
  /** End of each pass: the end of the range, or the last final block. */
  readonly reached: ReadonlyMap<Pass, bigint>;
}

/** Maximum listed; further ones are only counted. */
export const newsMax = 500;

/**
 * Reads a range by the final passes and handles it as the live scan does: repeating it changes nothing. Neither reads nor moves a saved
 * cursor, and a service may be running. After a crash or interruption, recorded payins stay recorded; run it again.
 *
 * @throws ChainUnavailable, Unavailable; Error if the chain has no such block yet
 */
export async function rescan(deps: RescanDeps, { from, to }: Blocks, signal: AbortSignal): Promise<Rescanned> {
  const { ingester, onProgress = () => {} } = deps;
  const { blockNumber: newest } = await ingester.head(signal);
  const end = to === undefined ? newest : lower(to, newest);
  if (from > end)
    throw new Error(`there is nothing to read from block ${from} to ${end}: the chain stands at ${newest}`);
  const counts = { known: 0, recorded: 0, unmatched: 0, setAside: 0 };
  const news: HandledTransfer[] = [];
  const missed: NonNullable<ScannedRange['missed']>[] = [];
  const reached = new Map<Pass, bigint>();

  for (const pass of ingester.passes.filter((each) => each !== 'head')) {
    let cursor = await ingester.cursorAt(pass, from - 1n, signal);
    for (let last = null; cursor !== last && cursor.blockNumber < end; ) {
      last = cursor;
      for await (const range of ingester.scan(cursor, signal)) {
        signal.throwIfAborted();
        await take(pass, range);
        cursor = range.next;
        onProgress(pass, cursor.blockNumber, end);
        if (cursor.blockNumber >= end) break;
      }
    }
    reached.set(pass, lower(cursor.blockNumber, end));
  }
  return { counts, news, missed, reached };

  async function take(pass: Pass, range: ScannedRange): Promise<void> {
    if (range.missed) missed.push({ from: range.missed.from, to: lower(range.missed.to, end) });
    const logs = range.logs.filter(({ blockNumber }) => blockNumber <= end);
    const found = { ...range, logs };
    if (!holdsAnything(found)) return;
    for (const handled of await handleRange(deps, pass, found, signal)) {
      counts[handled.outcome] += 1;
      if (handled.outcome !== 'known' && news.length < newsMax) news.push(handled);
    }
  }
}
