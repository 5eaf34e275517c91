/** Copies the event log into a directory while the log is written to. Skips what the directory has already. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import Type, { type Static } from 'typebox';
import Value from 'typebox/value';
import { streamPrefixes } from '../../commands/codec.ts';
import { type Clock, type EventStore, StreamConflict } from '../../commands/ports.ts';
import type { StoredEvent } from '../../domain/decider.ts';
import { closed, Digest, Text, Time } from '../../domain/schema.ts';
import {
  type KeystoreEntries,
  openKeystore,
  replaceSealed,
  sealKeystore,
  withKeystore,
} from '../../src/environment/keystore.ts';
import { type Env, secretNames, settingOf } from '../../src/environment/reader.ts';
import { writeWhole } from '../../src/lib/writeWhole.ts';

const format = 'payment-intents backup 1';
const Count = Type.Integer({ minimum: 0 });
const Position = Type.String({ pattern: '^[0-9]{1,20}$' });

const Manifest = Type.Object(
  {
    format: Type.Literal(format),
    /** Time of the last segment. */
    madeAt: Time,
    segments: Type.Array(
      Type.Object({ file: Text(64), events: Count, first: Position, last: Position, sha256: Digest }, closed),
      { maxItems: 100_000 },
    ),
  },
  closed,
);
export type Manifest = Static<typeof Manifest>;
export type Segment = Manifest['segments'][number];

/** An unusable backup. The message says why. */
class BackupError extends Error {
  override readonly name = 'BackupError';
}

const pathOf = (directory: string): string => join(directory, 'backup.json');

export const emptyManifest = (madeAt: Manifest['madeAt']): Manifest => ({ format, madeAt, segments: [] });

/**
 * Reads the names of the log's segments in a backup's directory, in order, and their digests. Undefined where the directory has no
 * manifest.
 * @throws BackupError for one that is not ours
 */
export function readManifest(directory: string): Manifest | undefined {
  if (!existsSync(pathOf(directory))) return undefined;
  try {
    const manifest: unknown = JSON.parse(readFileSync(pathOf(directory), 'utf8'));
    if (Value.Check(Manifest, manifest)) return manifest;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new BackupError(`${pathOf(directory)} is no backup of this program: name another directory`);
}

/** After an interruption the former manifest remains, plus an unnamed segment. */
export function writeManifest(directory: string, manifest: Manifest): void {
  writeWhole(pathOf(directory), `${JSON.stringify(manifest, null, 2)}\n`, 0o600, true);
}

export const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

export const eventsIn = ({ segments }: Manifest): number => segments.reduce((sum, { events }) => sum + events, 0);

/** Maximum events in memory. */
export const segmentMax = 10_000;
const inflatedMax_bytes = 1024 * 1024 * 1024;

/**
 * Writes a part of the log to a compressed file: one event in each line, in the log's order. The file's name contains a digest of its
 * contents, so two concurrent backups do not overwrite each other's segments.
 */
export function writeSegment(directory: string, number: number, events: readonly StoredEvent[]): Segment {
  const lines = events.map((event) =>
    JSON.stringify(event, (_, part) => (typeof part === 'bigint' ? `${part}` : part)),
  );
  const bytes = gzipSync(`${lines.join('\n')}\n`);
  const sha256 = digestOf(bytes);
  const file = `log-${String(number).padStart(6, '0')}-${sha256.slice(0, 16)}.ndjson.gz`;
  writeFileSync(join(directory, file), bytes, { mode: 0o600, flush: true });
  const [first, last] = [events[0]?.position ?? 0n, events.at(-1)?.position ?? 0n];
  return { file, events: events.length, first: `${first}`, last: `${last}`, sha256 };
}

/** @throws BackupError if it is missing, or changed */
export function readSegment(directory: string, { file, sha256, events }: Segment): readonly StoredEvent[] {
  const bytes = bytesOf(directory, file);
  if (digestOf(bytes) !== sha256)
    throw new BackupError(`${file} is not as it was written: restore from another backup, nothing was changed`);
  const lines = gunzipSync(bytes, { maxOutputLength: inflatedMax_bytes }).toString('utf8').split('\n').filter(Boolean);
  if (lines.length !== events) throw new BackupError(`${file} holds ${lines.length} events in place of ${events}`);
  return lines.map((line) => {
    const { revision, position, ...event } = JSON.parse(line) as Omit<StoredEvent, 'revision' | 'position'> & {
      readonly revision: string;
      readonly position: string;
    };
    return { ...event, revision: BigInt(revision), position: BigInt(position) };
  });
}

function bytesOf(directory: string, file: string): Buffer {
  try {
    return readFileSync(join(directory, file));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new BackupError(`${file} cannot be read (${code}): the backup is not whole, restore from another one`);
  }
}

export interface BackUpDeps {
  /** Raw, including seals: foreign events are evidence. */
  readonly store: Pick<EventStore, 'all' | 'tail' | 'read'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly directory: string;
  readonly signal: AbortSignal;
  /** Called after each segment. @param position of its last event, `end` position of the log's end at the start */
  readonly onProgress: (done: { readonly events: number; readonly position: bigint; readonly end: bigint }) => void;
}

/**
 * Copies all events up to the moment of the call, each stream complete up to its last event. Crash anywhere: run it again; named segments
 * stay.
 * @returns number of all events, and of new ones
 * @throws BackupError if the directory holds a copy of another log
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

/** A restored log may have the same events at other positions: continuing from an old position would skip some. */
async function mustContinue({ store, directory }: BackUpDeps, newest: Segment): Promise<void> {
  const last = readSegment(directory, newest).at(-1);
  const [there] = last ? await store.read(last.stream, { from: last.revision, max: 1 }) : [];
  if (last && there?.id === last.id && there.position === last.position) return;
  throw new BackupError(
    `${directory} is a copy of another log, or of this one before it was restored: name another directory`,
  );
}

export interface RestoreDeps {
  /** The store without sealing: the events of a backup already have their seals. */
  readonly store: Pick<EventStore, 'append' | 'read'>;
  readonly directory: string;
  readonly signal: AbortSignal;
  readonly onProgress: (done: { readonly events: number; readonly of: number }) => void;
}

/** Maximum consecutive events of one stream per append. */
const togetherMax = 100;

/**
 * Writes a backup into an event store: the same events, in the same order, at the same revisions, with their hashes and seals. Checks every
 * segment before it writes any. After a crash, run it again: existing events stay.
 * @returns number of events in the backup
 * @throws BackupError for a damaged backup, and for a store with other events
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

/** Consecutive events of one stream, in log order. */
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

// The installation's secrets beside a backup of its log, sealed with a passphrase: without them the log is unreadable
// and its money is lost.

const pathOfSecret = (directory: string): string => join(directory, 'secrets.sealed');

/** Secrets that are set, from any source. @throws BackupError that names unreadable ones */
export function secretsOf(env: Env): KeystoreEntries {
  const problems: string[] = [];
  const all = withKeystore(env, problems);
  const found = [...secretNames].flatMap((name) => {
    const value = settingOf(all, name, problems);
    return value === undefined ? [] : [[name, value] as const];
  });
  if (problems.length > 0) throw new BackupError(problems.join('; '));
  return Object.fromEntries(found);
}

export const writeSecrets = (directory: string, secrets: KeystoreEntries, passphrase: string): void =>
  replaceSealed(pathOfSecret(directory), sealKeystore(secrets, passphrase));

export const hasSecrets = (directory: string): boolean => existsSync(pathOfSecret(directory));

/**
 * Writes a new file of variables that only its owner can read.
 * @throws KeystoreError for a wrong passphrase
 * @returns their names
 */
export function restoreSecrets(directory: string, passphrase: string, to: string): readonly string[] {
  const secrets = openKeystore(readFileSync(pathOfSecret(directory), 'utf8'), passphrase);
  const lines = Object.entries(secrets).map(([name, value]) => `${name}=${quoted(value)}`);
  writeFileSync(to, `${lines.join('\n')}\n`, { mode: 0o600, flag: 'wx' });
  return Object.keys(secrets);
}

/** Quotes for a file of variables: with a quote that is not in the value. Within double quotes a backslash and an n would be a new line. */
function quoted(value: string): string {
  const quote = ["'", '`', '"'].find((each) => !value.includes(each) && !(each === '"' && value.includes('\\n')));
  if (quote === undefined) throw new BackupError('a secret holds every kind of quote: set it by hand');
  return `${quote}${value}${quote}`;
}
