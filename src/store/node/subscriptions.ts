import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pageMost } from './bounds.ts';
import { isHidden } from './epochs.ts';
import type { Reading } from './present.ts';
import { invalidArgument, streamDeleted } from './problems.ts';
import { isBoundary, readLogAfter, readStreamLive, readStreamPage, streamState } from './reader.ts';
import type { ReadRequest } from './readRequest.ts';
import { caughtUp, checkpointAt, confirmation } from './replies.ts';

/**
 * Waits for the log to grow. Between two waits nothing is missed: what was rung meanwhile is remembered.
 * A subscription reads the log itself each time; it keeps no queue that a slow client could fill.
 */
function growth({ grown, out }: Reading) {
  let rung = false;
  let wake = (): void => {};
  const hear = (): void => {
    rung = true;
    wake();
  };
  out.onCancel(hear);
  return {
    stop: grown.listen(hear),
    async next(): Promise<void> {
      if (!rung && !out.cancelled) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      rung = false;
    },
  };
}

/**
 * Everything after the start, in order. A filtered subscription is also told how far the log was looked through: after each
 * interval, and before `caughtUp`. A subscriber that falls a page behind catches up again.
 */
export async function subscribeToLog(reading: Reading, { from, filter: wanted }: ReadRequest): Promise<void> {
  const { storage, out, present, filter } = reading;
  const interval = wanted?.checkpointInterval ?? Number.POSITIVE_INFINITY;
  if (!isBoundary(storage, from)) throw invalidArgument('Trying to read from an invalid position.');
  const more = growth(reading);
  let after = from === 'start' ? 0 : from === 'end' ? storage.tail() : from;
  let live = after >= storage.tail();
  let considered = 0;
  let told = -1;

  function checkpoint(position: number): void {
    if (position <= told) return;
    told = position;
    out.write(checkpointAt(position));
  }

  out.write(confirmation(randomUUID()));
  if (live) out.write(caughtUp());
  try {
    while (!out.cancelled) {
      const { found, more: behind } = readLogAfter(storage, after);
      const passes = await filter?.passing(found.map(({ value }) => value));
      for (const [i, { key, value }] of found.entries()) {
        if (out.full) await out.room();
        if (passes?.[i] !== false && !isHidden(value)) out.write(present(value));
        after = key;
        considered++;
        if (considered % interval === 0) checkpoint(key);
      }
      if (behind) {
        live = false;
        await nextTurn();
      } else if (live) await more.next();
      else {
        live = true;
        if (filter) checkpoint(after);
        out.write(caughtUp());
      }
    }
  } finally {
    more.stop();
  }
}

/** Everything after a revision. Catching up heeds the stream's metadata; live events come whatever it says. */
export async function subscribeToStream(reading: Reading, stream: string, from: ReadRequest['from']): Promise<void> {
  const { storage, out, present } = reading;
  if (streamState(storage, stream) === 'tombstoned') throw streamDeleted(stream);
  const more = growth(reading);
  const last = (): number => storage.head(stream)?.last ?? -1;
  let after = from === 'end' ? last() : from === 'start' ? -1 : from;
  let live = false;
  out.write(confirmation(randomUUID()));
  try {
    while (!out.cancelled) {
      const page = live
        ? readStreamLive(storage, stream, after)
        : readStreamPage(storage, stream, after + 1, false, pageMost, Date.now());
      for (const record of page.records) {
        if (out.full) await out.room();
        out.write(present(record));
      }
      if (live) after = page.next ?? after;
      else if (page.next !== null) after = page.next - 1;
      else {
        after = Math.max(after, last());
        live = true;
        out.write(caughtUp());
      }
      if (after < last()) await nextTurn();
      else {
        const tombstone = storage.head(stream)?.tombstoned;
        if (tombstone !== undefined) {
          const record = storage.record(tombstone);
          if (record) out.write(present(record));
          throw streamDeleted(stream);
        }
        await more.next();
      }
    }
  } finally {
    more.stop();
  }
}
