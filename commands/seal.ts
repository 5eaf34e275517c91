/**
 * The hash chain: every event's metadata holds the hash of its predecessor in the stream, from the first event on.
 * Whoever holds the last link can tell whether any earlier event was changed, removed or inserted.
 */
import { hash } from 'node:crypto';
import { assert } from '../domain/decider.ts';
import type { DomainEvent, EventMetadata, StoredEvent } from '../domain/event.ts';
import type { Ids, SealedEvent } from './ports.ts';

/** The last event of a stream as its successor names it. Null in its place: the stream does not exist yet. */
export interface ChainLink {
  readonly revision: bigint;
  /** SHA-256 as hex. */
  readonly hash: string;
}

/** The rest of an event's metadata. */
export type SealFacts = Omit<EventMetadata, 'prev'>;

/** Events ready for one append, and the link to continue from once they are appended. */
export interface Sealed {
  readonly events: readonly SealedEvent[];
  readonly link: ChainLink;
}

/** Where a stored chain is not what it should be. */
export interface ChainBreak {
  readonly stream: string;
  readonly revision: bigint;
  readonly expected: string;
  readonly found: string;
}

/**
 * The link to an event: SHA-256 over its stream, revision, id, type, data and metadata, each preceded by its length in
 * bytes, so that no two different events share one text.
 *
 * Data and metadata enter as JSON.stringify writes them, which is what the store holds. Parsing and writing again gives
 * the same text, because JSON.stringify has one spelling for each string and number and keeps the order of keys; hence
 * the link is the same computed before the append or after reading back.
 */
export function linkOf(event: Omit<StoredEvent, 'position'>): ChainLink {
  const parts = [
    event.stream,
    event.revision.toString(),
    event.id,
    event.type,
    JSON.stringify(event.data),
    JSON.stringify(event.metadata),
  ];
  const text = parts.map((part) => `${Buffer.byteLength(part)}:${part}`).join('');
  return { revision: event.revision, hash: hash('sha256', text, 'hex') };
}

/**
 * Makes decided events ready for one append behind `previous`: ids given, each chained to the one before.
 * The append must expect exactly the previous revision (or no stream); else the links would be wrong.
 */
export function seal(
  stream: string,
  previous: ChainLink | null,
  events: readonly DomainEvent[],
  { at, cause, appId, schemaVersion }: SealFacts,
  ids: Pick<Ids, 'eventId'>,
): Sealed {
  let link = previous;
  const sealed = events.map(({ type, data }): SealedEvent => {
    const metadata = { prev: link?.hash ?? null, at, cause, appId, schemaVersion };
    const event = { id: ids.eventId(), type, data, metadata };
    link = linkOf({ stream, revision: (link?.revision ?? -1n) + 1n, ...event });
    return event;
  });
  assert(sealed.length > 0 && link !== null, `an append to ${stream} holds at least one event`);
  return { events: sealed, link };
}

/**
 * Checks the chain of one stream, in order, starting behind `previous` (null: from the first event on).
 * @returns the first break, or null when the chain is whole
 */
export function verifyChain(events: readonly StoredEvent[], previous: ChainLink | null = null): ChainBreak | null {
  let link = previous;
  for (const event of events) {
    const expected = `revision ${(link?.revision ?? -1n) + 1n} after ${link?.hash ?? 'nothing'}`;
    const found = `revision ${event.revision} after ${event.metadata?.prev ?? 'nothing'}`;
    if (expected !== found) return { stream: event.stream, revision: event.revision, expected, found };
    link = linkOf(event);
  }
  return null;
}
