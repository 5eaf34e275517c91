/** Appends entries of `heads-log`. A head follows from the log alone: two processes that sign for a position sign equal bytes. */

import { type Decision, isRefusal, type Refusal, type StoredEvent } from '../../domain/decider.ts';
import {
  changeHeadKey,
  type HeadAnchored,
  type HeadSigned,
  type HeadsEvent,
  heads,
  headsInstance,
  keySinceOf,
  signHead,
} from '../../domain/heads/heads.ts';
import { categories } from '../../domain/streams.ts';
import type { Codec } from '../codec.ts';
import type { Handle } from '../handle.ts';
import type { EventStore } from '../ports.ts';
import { type HeadKey, hashOfHead } from './chain.ts';
import { TreeMoved, type TreeProgress } from './tree.ts';

/**
 * Categories that heads of this version cover: all but the heads themselves, which their own hashes protect. Each head lists its
 * categories.
 */
export const coveredCategories: readonly string[] = categories.filter((name) => name !== heads.category).sort();

export interface HeadKeys {
  readonly current: HeadKey;
  /** Former keys of heads, which can still sign that another key follows. */
  readonly former: readonly HeadKey[];
  /** Operator's reason why the former key is lost; null if it is not. */
  readonly lost: string | null;
}

/** Heads were signed with a key that is not configured. */
export class HeadKeyMissing extends Error {
  override readonly name = 'HeadKeyMissing';
  constructor(publicKey: string) {
    super(
      `heads are signed with key ${publicKey}, and none of that is here: set HEADS_KEY_OLD to it, so that it signs for the new one (docs/audit/evidence.md, "Another key")`,
    );
  }
}

const facts = { cause: 'worker:heads', appId: null } as const;

/**
 * @returns the head of that position, new or signed before
 * @throws HeadKeyMissing, TreeMoved if a later position has a head, Unavailable
 */
export async function appendHead(
  handle: Handle,
  keys: HeadKeys,
  progress: TreeProgress,
  root: string,
): Promise<HeadSigned> {
  const { current } = keys;
  await followKey(handle, keys);
  const head = {
    position: progress.position.toString(),
    until: progress.until,
    events: progress.events.toString(),
    streams: progress.streams.toString(),
    categories: [...coveredCategories],
    root,
    publicKey: current.publicKey,
  };
  const newest = await decided(handle, (entry) => signHead(entry, head, { hashOf: hashOfHead, sign: current.sign }));
  if (newest?.type !== 'HeadSigned' || newest.data.position !== head.position || newest.data.root !== root)
    throw new TreeMoved();
  return newest.data;
}

/** The former key signs that this key follows. */
export async function followKey(handle: Handle, { current, former, lost }: HeadKeys): Promise<void> {
  await decided(handle, (newest) => {
    if (newest === null || newest.data.publicKey === current.publicKey) return [];
    const before = former.find(({ publicKey }) => publicKey === newest.data.publicKey);
    if (!before && lost === null) throw new HeadKeyMissing(newest.data.publicKey);
    const how = { hashOf: hashOfHead, sign: current.sign, former: before ?? { lost: lost ?? '' } };
    return changeHeadKey(newest, current.publicKey, how);
  });
}

async function decided(
  handle: Handle,
  decide: (newest: HeadsEvent | null) => Decision<HeadsEvent>,
): Promise<HeadsEvent | null> {
  const entry = await appendEntry(handle, decide);
  if (isRefusal(entry)) throw new Error(entry.message);
  return entry;
}

/** @returns the newest entry afterwards */
export async function appendEntry(
  handle: Handle,
  decide: (newest: HeadsEvent | null) => Decision<HeadsEvent>,
): Promise<HeadsEvent | null | Refusal> {
  const handled = await handle(heads, headsInstance, decide, facts);
  return isRefusal(handled) ? handled : handled.state;
}

export const headsStream = `${heads.category}-${headsInstance}`;

export interface HeadsReading {
  readonly store: Pick<EventStore, 'read'>;
  readonly codec: Pick<Codec, 'read'>;
}

/** Existing entries with these numbers, oldest first. @throws Unavailable, ChainBroken */
export async function entriesFrom(
  { store, codec }: HeadsReading,
  number: number,
  max: number,
): Promise<readonly HeadsEvent[]> {
  const events = await store.read(headsStream, { from: BigInt(number - 1), max });
  return events.flatMap((stored) => entryOf(codec, stored));
}

/** Null before the first. */
export async function newestEntry({ store, codec }: HeadsReading): Promise<HeadsEvent | null> {
  const [stored] = await store.read(headsStream, { backwards: true, max: 1 });
  return (stored && entryOf(codec, stored)[0]) ?? null;
}

/** Page size: few consecutive entries are no heads. */
const page = 20;

/** The newest head; key changes and anchors may follow it. */
export async function newestHead(reading: HeadsReading): Promise<HeadSigned | null> {
  for await (const entry of entriesBack(reading)) if (entry.type === 'HeadSigned') return entry.data;
  return null;
}

/** More than a month of heads at the usual interval: anchors are more frequent. */
const lookBackMax = 10_000;

/** Null if there is no recent one. */
export async function newestAnchor(reading: HeadsReading): Promise<HeadAnchored | null> {
  let seen = 0;
  for await (const entry of entriesBack(reading)) {
    if (entry.type === 'HeadAnchored') return entry.data;
    seen += 1;
    if (seen >= lookBackMax) break;
  }
  return null;
}

/** Newest first, back to the first one. @throws Unavailable, ChainBroken */
export async function* entriesBack({ store, codec }: HeadsReading): AsyncGenerator<HeadsEvent, void, undefined> {
  let events = await store.read(headsStream, { backwards: true, max: page });
  for (;;) {
    for (const stored of events) yield* entryOf(codec, stored);
    const last = events.at(-1);
    if (!last || last.revision === 0n) return;
    events = await store.read(headsStream, { backwards: true, from: last.revision - 1n, max: page });
  }
}

const entryOf = (codec: Pick<Codec, 'read'>, stored: StoredEvent): readonly HeadsEvent[] => {
  const entry = codec.read(stored) as HeadsEvent | undefined;
  return entry ? [entry] : [];
};

export interface HeadKeySince {
  readonly publicKey: string;
  /** Number of the entry that brought the key. */
  readonly since: number;
}

/** Maximum number of keys listed. */
const keysMax = 100;

/** Keys of heads, newest first. Each entry has its key's first entry, so the entries in between are not read. */
export async function headKeysSince(reading: HeadsReading): Promise<readonly HeadKeySince[]> {
  const keys: HeadKeySince[] = [];
  let entry = await newestEntry(reading);
  while (entry && keys.length < keysMax) {
    const since = keySinceOf(entry);
    keys.push({ publicKey: entry.data.publicKey, since });
    [entry = null] = since > 1 ? await entriesFrom(reading, since - 1, 1) : [];
  }
  return keys;
}
