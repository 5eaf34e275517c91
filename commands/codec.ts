import Compile from 'typebox/compile';
import { assert } from '../domain/decider.ts';
import type { DomainEvent, StoredEvent } from '../domain/event.ts';
import { categoryOf } from '../domain/event.ts';
import { categories, streams } from '../domain/streams.ts';

/** Turns decisions into what is stored and back. */
export interface Codec {
  schemaVersion(category: string): number;
  /** @throws InvariantBroken when the event does not fit its schema: it is our own mistake and must not be stored */
  check(category: string, event: DomainEvent): void;
  /** The event in today's form; undefined for a type that this version does not know: reading is tolerant. */
  read(stored: StoredEvent): DomainEvent | undefined;
}

/** Brings data of an older schema version to today's, one version at a time. */
type Upcaster = (data: object) => object;

interface Compiled {
  readonly version: number;
  readonly validators: ReadonlyMap<
    string,
    { Check(value: unknown): boolean; Errors(value: unknown): readonly object[] }
  >;
  /** `<type>@<version>` → its data one version later. Empty while every schema is at version 1. */
  readonly upcasters: ReadonlyMap<string, Upcaster>;
}

const known: ReadonlyMap<string, Compiled> = new Map(
  categories.map((name) => [name, compiled(streams[name].version, streams[name].schemas)]),
);

/** Prefixes of all streams that are ours, for subscriptions. */
export const streamPrefixes: readonly string[] = categories.map((name) => `${name}-`);

export const eventCodec: Codec = {
  schemaVersion: (name) => categoryNamed(name).version,
  check(name, event) {
    const validator = categoryNamed(name).validators.get(event.type);
    assert(validator !== undefined, `${event.type} is no event of ${name}`);
    if (validator.Check(event.data)) return;
    assert(false, `${event.type} does not fit its schema: ${JSON.stringify(validator.Errors(event.data).slice(0, 3))}`);
  },
  read(stored) {
    const kind = known.get(categoryOf(stored.stream));
    if (!kind?.validators.has(stored.type)) return undefined;
    let data = stored.data as object;
    for (let version = stored.metadata.schemaVersion; version < kind.version; version += 1) {
      data = kind.upcasters.get(`${stored.type}@${version}`)?.(data) ?? data;
    }
    return { type: stored.type, data };
  },
};

function categoryNamed(name: string): Compiled {
  const category = known.get(name);
  assert(category !== undefined, `${name} is no category of streams`);
  return category;
}

function compiled(version: number, schemas: Readonly<Record<string, object>>): Compiled {
  const validators = new Map(Object.entries(schemas).map(([type, schema]) => [type, Compile(schema)]));
  return { version, validators, upcasters: new Map() };
}
