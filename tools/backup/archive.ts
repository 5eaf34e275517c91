/** Copies the event log into a directory, while it is written to. What a backup there has already is not copied again. */
import { mkdirSync } from 'node:fs';
import { streamPrefixes } from '../../commands/codec.ts';
import type { Clock, EventStore } from '../../commands/ports.ts';
import type { StoredEvent } from '../../domain/decider.ts';
import {
  BackupError,
  emptyManifest,
  eventsIn,
  type Manifest,
  readManifest,
  type Segment,
  writeManifest,
} from './manifest.ts';
import { readSegment, segmentMax, writeSegment } from './segment.ts';

export interface BackUpDeps {
  /** As it is, seals and all: what somebody else wrote is evidence. */
  readonly store: Pick<EventStore, 'all' | 'tail' | 'read'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly directory: string;
  readonly signal: AbortSignal;
  /** Told after each segment. @param position of its last event, `end` where the log ended at the beginning */
  readonly onProgress: (done: { readonly events: number; readonly position: bigint; readonly end: bigint }) => void;
}

/**
 * All events up to the moment of the call, each stream whole up to its last. Crash anywhere: run it again; what is written and named stays.
 * @returns how many events it holds now, and how many of them are new
 * @throws BackupError when the log is not the one that the directory holds a copy of
 */
export async function backUp(deps: BackUpDeps): Promise<{ readonly events: number; readonly added: number }> {
  const { store, clock, directory, signal, onProgress } = deps;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  let manifest: Manifest = readManifest(directory) ?? emptyManifest(clock.now());
  const before = eventsIn(manifest);
  const end = await store.tail();
  const newest = manifest.segments.at(-1);
  if (newest) await mustContinue(deps, newest);
  const after = newest ? BigInt(newest.last) : null;
  const save = (events: readonly StoredEvent[]): void => {
    if (events.length === 0) return;
    const segment = writeSegment(directory, manifest.segments.length + 1, events);
    manifest = { ...manifest, madeAt: clock.now(), segments: [...manifest.segments, segment] };
    writeManifest(directory, manifest);
    onProgress({ events: eventsIn(manifest), position: BigInt(segment.last), end });
  };

  const pending: StoredEvent[] = [];
  for await (const { events, position, live } of store.all({ after, prefixes: streamPrefixes, signal })) {
    pending.push(...events);
    while (pending.length >= segmentMax) save(pending.splice(0, segmentMax));
    if (live || position >= end) break;
  }
  signal.throwIfAborted();
  save(pending);
  return { events: eventsIn(manifest), added: eventsIn(manifest) - before };
}

/** A restored log may have the same events at other places: what follows a place of the old one would leave some out. */
async function mustContinue({ store, directory }: BackUpDeps, newest: Segment): Promise<void> {
  const last = readSegment(directory, newest).at(-1);
  const [there] = last ? await store.read(last.stream, { from: last.revision, max: 1 }) : [];
  if (last && there?.id === last.id && there.position === last.position) return;
  throw new BackupError(
    `${directory} is a copy of another log, or of this one before it was restored: name another directory`,
  );
}
