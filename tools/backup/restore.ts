/** Writes a backup into an event store: the same events, in the same order, at the same revisions, with their hash chains and seals. */
import { type EventStore, StreamConflict } from '../../commands/ports.ts';
import type { StoredEvent } from '../../domain/decider.ts';
import { BackupError, eventsIn, readManifest } from './manifest.ts';
import { readSegment } from './segment.ts';

export interface RestoreDeps {
  /** Without seals of its own: events bring theirs. */
  readonly store: Pick<EventStore, 'append' | 'read'>;
  readonly directory: string;
  readonly signal: AbortSignal;
  readonly onProgress: (done: { readonly events: number; readonly of: number }) => void;
}

/** Of one stream that follow each other, in one append. */
const togetherMax = 100;

/**
 * Every segment is checked before anything is written. Crash anywhere: run it again, what is there already stays.
 * @returns how many events the backup has
 * @throws BackupError for a backup that is damaged, and for a store that holds other events
 */
export async function restore({ store, directory, signal, onProgress }: RestoreDeps): Promise<number> {
  const manifest = readManifest(directory);
  if (!manifest) throw new BackupError(`there is no backup in ${directory}: npm run backup makes one`);
  for (const segment of manifest.segments) readSegment(directory, segment);
  const of = eventsIn(manifest);
  let events = 0;
  for (const segment of manifest.segments) {
    for (const together of runsOf(readSegment(directory, segment))) {
      signal.throwIfAborted();
      await put(store, together);
      events += together.length;
      onProgress({ events, of });
    }
  }
  return of;
}

async function put(store: RestoreDeps['store'], events: readonly StoredEvent[]): Promise<void> {
  const [first] = events;
  if (!first) return;
  const { stream, revision } = first;
  const sealed = events.map(({ id, type, data, metadata }) => ({ id, type, data: data as object, metadata }));
  try {
    await store.append(stream, revision === 0n ? 'no_stream' : revision - 1n, sealed);
  } catch (error) {
    if (!(error instanceof StreamConflict)) throw error;
    const there = await store.read(stream, { from: revision, max: events.length });
    const missing = events.slice(there.length);
    if (there.some(({ id }, index) => id !== events[index]?.id) || missing.length === events.length)
      throw new BackupError(`stream ${stream} holds other events than the backup: restore into an empty event store`);
    await put(store, missing);
  }
}

/** Neighbours of one stream, in the log's order. */
function* runsOf(events: readonly StoredEvent[]): Generator<readonly StoredEvent[]> {
  let run: StoredEvent[] = [];
  for (const event of events) {
    if (run.length > 0 && (run[0]?.stream !== event.stream || run.length >= togetherMax)) {
      yield run;
      run = [];
    }
    run.push(event);
  }
  if (run.length > 0) yield run;
}
