/**
 * Stored events must fold for ever: one file per category and schema version, never changed. A schema change raises the
 * version, adds an upcaster that keeps these tests green, and adds a file.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { eventCodec } from '../../commands/codec.ts';
import type { Decider, DomainEvent, StoredEvent } from '../../domain/decider.ts';
import type { Payment } from '../../domain/payment/state.ts';
import { viewOf } from '../../domain/payment/view.ts';
import { type Category, categories, streams } from '../../domain/streams.ts';
import { minute } from '../support/payments.ts';

interface Life {
  readonly life: string;
  readonly events: readonly { readonly type: string; readonly data: object }[];
  /** The folded state when the file was written, for a payment its view. A later version may have more fields. */
  readonly folded: object;
}

const goldenOf = (category: Category, version: number): readonly Life[] =>
  JSON.parse(readFileSync(new URL(`golden/${category}.${version}.json`, import.meta.url), 'utf8'));

/** Returns the event in the form of a store. */
const stored = (category: Category, schemaVersion: number, { type, data }: Life['events'][number]): StoredEvent => ({
  stream: `${category}-1`,
  revision: 0n,
  position: 0n,
  id: 'id',
  type,
  data,
  metadata: { prev: null, at: minute(0), cause: 'golden', appId: null, schemaVersion },
});

function foldGolden(category: Category, version: number, { events }: Life): unknown {
  const decider = streams[category].decider as Decider<unknown, DomainEvent>;
  return events.reduce((state, event) => {
    const today = eventCodec.read(stored(category, version, event));
    assert.ok(today, `${event.type} is still known`);
    eventCodec.check(category, today);
    return decider.evolve(state, today);
  }, decider.initial);
}

const asJson = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? part.toString() : part)));

describe('stored events', () => {
  for (const category of categories) {
    const today = eventCodec.schemaVersion(category);
    for (let version = 1; version <= today; version += 1) {
      for (const life of goldenOf(category, version)) {
        it(`still fold: ${category} of version ${version}, ${life.life}`, () => {
          const state = foldGolden(category, version, life);
          const shown = category === 'payment' ? viewOf(state as Payment, minute(99)) : state;
          assert.partialDeepStrictEqual(asJson(shown), life.folded);
        });
      }
    }

    it(`are kept for every type of ${category} that is written today`, () => {
      const kept = new Set(goldenOf(category, today).flatMap(({ events }) => events.map(({ type }) => type)));
      assert.deepEqual([...kept].sort(), Object.keys(streams[category].schemas).sort());
    });
  }
});
