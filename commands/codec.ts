/**
 * Form of a stored event: data that fits its schema, of a known version, linked into the hash chain.
 *
 * The hash chain: every event's metadata holds the hash of its predecessor in the stream, from the first event on. A holder of the last
 * hash can detect a changed, removed or inserted event. A writer of the log could still extend the chain, so each event also has a seal
 * (src/store/sealed.ts), which needs a key.
 */
import { hash } from 'node:crypto';
import Compile from 'typebox/compile';
import { assert, categoryOf, type DomainEvent, type EventMetadata, type StoredEvent } from '../domain/decider.ts';
import type { Upcasters } from '../domain/schema.ts';
import { categories, streams } from '../domain/streams.ts';
import type { Instant } from '../domain/time.ts';
import { type Ids, NewerEvent, type SealedEvent } from './ports.ts';

/** Converts decisions to stored events and back. */
export interface Codec {
  schemaVersion(category: string): number;
  /** @throws InvariantBroken if the event does not fit its schema: an error of the program that must not be stored */
  check(category: string, event: DomainEvent): void;
  /**
   * The event in the current schema version; undefined for a stream that is not of this product.
   * @throws NewerEvent for a type, or a schema version, that only a newer version of this program writes
   */
  read(stored: StoredEvent): DomainEvent | undefined;
}

type EventValidator = ReturnType<typeof Compile>;

interface Compiled {
  readonly version: number;
  readonly validators: ReadonlyMap<string, () => EventValidator>;
  /** Omitted for a version that only allows more. */
  readonly upcasters: Upcasters;
}

const known: ReadonlyMap<string, Compiled> = new Map(categories.map((name) => [name, compiled(streams[name])]));

/** Prefixes of all streams of this product, for subscriptions. */
export const streamPrefixes: readonly string[] = categories.map((name) => `${name}-`);

export const eventCodec: Codec = {
  schemaVersion: (name) => categoryNamed(name).version,
  check(name, event) {
    const validator = categoryNamed(name).validators.get(event.type)?.();
    assert(validator !== undefined, `${event.type} is no event of ${name}`);
    if (validator.Check(event.data)) return;
    assert(false, `${event.type} does not fit its schema: ${JSON.stringify(validator.Errors(event.data).slice(0, 3))}`);
  },
  read(stored) {
    const kind = known.get(categoryOf(stored.stream));
    if (!kind) return undefined;
    if (!kind.validators.has(stored.type) || stored.metadata.schemaVersion > kind.version) throw new NewerEvent(stored);
    let data = stored.data as object;
    for (let version = stored.metadata.schemaVersion; version < kind.version; version += 1) {
      data = kind.upcasters[`${stored.type}@${version}`]?.(data, stored.metadata.at) ?? data;
    }
    return { type: stored.type, data };
  },
};

function categoryNamed(name: string): Compiled {
  const category = known.get(name);
  assert(category !== undefined, `${name} is no category of streams`);
  return category;
}

interface Stored {
  readonly version: number;
  readonly schemas: Readonly<Record<string, object>>;
  readonly upcasters?: Upcasters;
}

function compiled({ version, schemas, upcasters = {} }: Stored): Compiled {
  const validators = new Map(Object.entries(schemas).map(([type, schema]) => [type, compiledOnce(schema)]));
  return { version, validators, upcasters };
}

/** Compiles on first use: a process writes events of only a few types. */
function compiledOnce(schema: object): () => EventValidator {
  let validator: EventValidator | undefined;
  return () => (validator ??= Compile(schema));
}

/** A stream's last event, as its successor refers to it. Null means that the stream does not exist yet. */
export interface Tip {
  readonly revision: bigint;
  readonly eventId: string;
  /** Time of writing. */
  readonly at: Instant;
  /** `linkOf` the event. */
  readonly link: string;
}

/** The other metadata of an event. */
export type SealFacts = Omit<EventMetadata, 'prev' | 'seal'>;

type Linkable = Omit<StoredEvent, 'position'>;

/** Position and reason of a broken hash chain. */
export interface ChainBreak {
  readonly stream: string;
  readonly revision: bigint;
  readonly expected: string;
  readonly found: string;
}

/** A stream differs from what this service wrote. No decision and no signature uses it. */
export class ChainBroken extends Error {
  override readonly name = 'ChainBroken';
  readonly stream: string;
  readonly revision: bigint;
  constructor({ stream, revision, expected, found }: ChainBreak) {
    super(
      `stream ${stream} is not as it was written: at revision ${revision} it should have ${expected}, but has ${found}. Nothing is decided on it; find out who wrote to the event log (docs/operate/damaged-log.md, "A broken chain")`,
    );
    this.stream = stream;
    this.revision = revision;
  }
}

/**
 * SHA-256 (hex) over the event's stream, revision, id, type, data and metadata, each preceded by its length in bytes, so no two different
 * events share one text.
 *
 * Data and metadata are hashed in the form of JSON.stringify, which is what the store holds. Parsing and stringifying again gives the same
 * text, because JSON.stringify has one form for each string and number and keeps the order of keys; so the hash is the same before the
 * append and after reading back. The seal is excluded: it is computed from this hash.
 */
export function linkOf(event: Linkable): string {
  const known = links.get(event);
  if (known !== undefined) return known;
  const { seal: _, ...metadata } = event.metadata;
  const parts = [
    event.stream,
    event.revision.toString(),
    event.id,
    event.type,
    JSON.stringify(event.data),
    JSON.stringify(metadata),
  ];
  const link = hash('sha256', parts.map((part) => `${Buffer.byteLength(part)}:${part}`).join(''), 'hex');
  links.set(event, link);
  return link;
}

/** The check of a seal and the check of a successor both need the hash. */
const links = new WeakMap<Linkable, string>();

/** The hash is computed on demand: few of the remembered tips get a successor in this process. */
export const tipOf = (event: Linkable): Tip => ({
  revision: event.revision,
  eventId: event.id,
  at: event.metadata.at,
  get link() {
    return linkOf(event);
  },
});

/** The stream's tip once `sealed` is appended after `previous`, without reading it back. */
export function tipAfter(stream: string, previous: Tip | null, sealed: readonly SealedEvent[]): Tip {
  const last = sealed.at(-1);
  assert(last !== undefined, `an append to ${stream} holds at least one event`);
  return tipOf({ stream, revision: (previous?.revision ?? -1n) + BigInt(sealed.length), ...last });
}

/**
 * Prepares decided events for one append after `previous`: assigns ids and links each to its predecessor. The append must expect exactly
 * the previous revision (or no stream); else the hashes would be wrong.
 */
export function seal(
  stream: string,
  previous: Tip | null,
  events: readonly DomainEvent[],
  { at, cause, appId, schemaVersion, requestId }: SealFacts,
  ids: Pick<Ids, 'eventId'>,
): readonly SealedEvent[] {
  let tip = previous;
  return events.map(({ type, data }, index) => {
    const prev = tip?.link ?? null;
    const metadata = { prev, at, cause, appId, schemaVersion, ...(requestId !== undefined && { requestId }) };
    const sealed = { id: ids.eventId(), type, data, metadata };
    if (index < events.length - 1) tip = tipAfter(stream, tip, [sealed]);
    return sealed;
  });
}

/**
 * Checks the hash chain of one stream in order, starting after `previous` (null: from the first event on).
 * @returns the first break, or null if the chain is whole
 */
export function verifyChain(events: readonly StoredEvent[], previous: Tip | null = null): ChainBreak | null {
  let tip = previous;
  for (const event of events) {
    const expected = `revision ${(tip?.revision ?? -1n) + 1n} after ${tip?.link ?? 'nothing'}`;
    const found = `revision ${event.revision} after ${event.metadata?.prev ?? 'nothing'}`;
    if (expected !== found) return { stream: event.stream, revision: event.revision, expected, found };
    tip = tipOf(event);
  }
  return null;
}

/**
 * Checks events that may begin in the middle of their stream; earlier events are not checked.
 * @throws ChainBroken
 */
export function mustBeWhole(events: readonly StoredEvent[], from: 'start' | 'anywhere'): void {
  const [first, ...later] = events;
  if (first === undefined) return;
  const midst = from === 'anywhere' && first.revision > 0n;
  const broken = midst ? verifyChain(later, tipOf(first)) : verifyChain(events);
  if (broken) throw new ChainBroken(broken);
}
