import { openRecord } from './checksums.ts';
import { Damaged } from './damage.ts';
import { intact, type Tables } from './environment.ts';
import { revisionOf } from './record.ts';

/** Records next to each other in the log. */
export interface Scanned {
  readonly found: readonly { readonly key: number; readonly value: Buffer }[];
  /** Whether a bound ended it: there may be more behind. */
  readonly more: boolean;
}

/**
 * Reads the log, and a stream by its index into it.
 * @param checkedFrom from this position on records have checksums
 * @throws Damaged, by every read, for what is not as it was written
 */
export function createLogReads(path: string, { log, index }: Tables, checkedFrom: number) {
  const damaged = (what: string): Damaged => new Damaged(path, what);

  function opened(position: number, stored: Buffer): Buffer {
    const record = position < checkedFrom ? stored : openRecord(stored, position);
    if (record === null) throw damaged(`the record at ${position} is not as it was written`);
    return record;
  }

  const stored = (position: number): Buffer | undefined =>
    intact(path, `the record at ${position}`, () => log.get(position));

  function record(position: number): Buffer | undefined {
    const found = stored(position);
    return found && opened(position, found);
  }

  const positionAt = (stream: number, revision: number): number | undefined =>
    intact(path, `the index of stream ${stream}`, () => index.get([stream, revision]));

  /** Up to a bound, or to the first that is damaged; whoever begins with that one is told. */
  function collect(position: number, backwards: boolean, most: number, most_bytes: number): Scanned {
    const found: { key: number; value: Buffer }[] = [];
    let bytes = 0;
    let expected: number | null = null;
    for (const { key, value } of log.getRange({ start: position, reverse: backwards, limit: most })) {
      try {
        // Records lie one behind the other: a gap is a loss.
        if (expected !== null && expected !== (backwards ? key + value.length : key)) {
          throw damaged(`records are missing next to ${key}`);
        }
        found.push({ key, value: opened(key, value) });
      } catch (error) {
        if (found.length === 0) throw error;
        return { found, more: true };
      }
      expected = backwards ? key : key + value.length;
      bytes += value.length;
      if (bytes >= most_bytes) break;
    }
    return { found, more: found.length >= most || bytes >= most_bytes };
  }

  return {
    record,
    positionAt,

    /** The record at a place in a stream up to its last revision, whether or not readers may see it. */
    recordAt(stream: number, revision: number): Buffer {
      const position = positionAt(stream, revision);
      const found = position === undefined ? undefined : record(position);
      if (found && revisionOf(found) === revision) return found;
      throw damaged(`revision ${revision} of stream ${stream} is not where it was`);
    },

    /** The log's last position, 0 when it is empty. */
    tail: (): number =>
      intact(path, 'the end of its log', () => {
        for (const position of log.getKeys({ reverse: true, limit: 1 })) return position;
        return 0;
      }),

    /** Where what is stored at a position ends. */
    endOf: (position: number): number => position + (stored(position)?.length ?? 0),

    /** Records from `position` on (or, backwards, down from it), inclusive: so many, or up to the one that reaches the size. */
    scan: (position: number, backwards: boolean, most: number, most_bytes: number): Scanned =>
      intact(path, `the log from ${position} on`, () => collect(position, backwards, most, most_bytes)),
  };
}
