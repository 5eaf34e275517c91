import type { StoredEvent } from '../../domain/decider.ts';
import { type HeadAnchored, type HeadSigned, type HeadsEvent, headsInstance } from '../../domain/heads/events.ts';
import { heads } from '../../domain/heads/heads.ts';
import type { Codec } from '../codec.ts';
import type { EventStore } from '../ports.ts';

export const headsStream = `${heads.category}-${headsInstance}`;

export interface HeadsReading {
  readonly store: Pick<EventStore, 'read'>;
  readonly codec: Pick<Codec, 'read'>;
}

/** Entries with these numbers, oldest first; those that there are. @throws Unavailable, ChainBroken */
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

/** Few entries in a row are no heads. */
const page = 20;

/** The newest head; changes of the key and anchors may have come behind it. */
export async function newestHead(reading: HeadsReading): Promise<HeadSigned | null> {
  for await (const entry of entriesBack(reading)) if (entry.type === 'HeadSigned') return entry.data;
  return null;
}

/** More than a month of heads, as often as they usually come: no anchor comes less often. */
const lookBackMax = 10_000;

/** Null where there is none lately. */
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
