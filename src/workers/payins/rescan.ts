/** Reads blocks again that were read, or missed, before: what they paid to us is recorded where the log does not have it yet. */
import type { Pass, ScannedRange } from '../../../commands/chainPorts.ts';
import { lower } from '../../lib/inParallel.ts';
import { type HandledTransfer, handleRange, holdsAnything, type Outcome, type RangeDeps } from './range.ts';

export interface RescanDeps extends RangeDeps {
  readonly onProgress?: (pass: Pass, blockNumber: bigint, to: bigint) => void;
}

/** Both ends belong to it. Without `to`: as far as the chain has come. */
export interface Blocks {
  readonly from: bigint;
  readonly to?: bigint | undefined;
}

export interface Rescanned {
  /** How many transfers to us had which outcome. */
  readonly counts: Readonly<Record<Outcome, number>>;
  /** Those of them that the log did not have, the first ones at least. */
  readonly news: readonly HandledTransfer[];
  /** What no node remembers. */
  readonly missed: readonly NonNullable<ScannedRange['missed']>[];
  /** How far each pass could read: to the end of the range, or to where what it reads is not final yet. */
  readonly reached: ReadonlyMap<Pass, bigint>;
}

/** More are counted, not listed. */
export const newsMax = 500;

/**
 * Reads a range by the final passes and handles it as the live scan does: repeating it changes nothing. No saved cursor is read or
 * moved, and a service may be running. Crash or interruption: what was recorded is recorded; run it again.
 *
 * @throws ChainUnavailable, Unavailable; Error when the chain has no such block yet
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
