/** A growing log, and processes that sign heads of it and die anywhere. */
import assert from 'node:assert/strict';
import { eventCodec, linkOf, seal, type Tip, tipOf } from '../../commands/codec.ts';
import { headKeyOf, verifyHeads } from '../../commands/heads/chain.ts';
import { coveredCategories, entriesFrom, type HeadKeys } from '../../commands/heads/sign.ts';
import { rootOfStreams, type TreeStore } from '../../commands/heads/tree.ts';
import type { CrashPoint, EventStore } from '../../commands/ports.ts';
import { categoryOf, type StoredEvent } from '../../domain/decider.ts';
import type { HeadsEvent } from '../../domain/heads/heads.ts';
import { randomIds } from '../../src/process/system.ts';
import { type HeadsDeps, open, signHeads, type TreeState } from '../../src/workers/heads/heads.ts';
import { memoryEventStore } from '../support/memoryEventStore.ts';
import { memoryTree } from '../support/memoryTree.ts';
import { minute } from '../support/payments.ts';
import { processes } from '../support/processes.ts';

export const { signal } = new AbortController();

export const headKeys = (byte: number, more: Partial<HeadKeys> = {}): HeadKeys => ({
  current: headKeyOf(Buffer.alloc(32, byte)),
  former: [],
  lost: null,
  ...more,
});

/** Kills the process at the nth passing of any access to a store. */
export function dying(after: number): CrashPoint {
  let passed = 0;
  return (name) => {
    passed += 1;
    if (passed > after) throw new Error(`died at ${name}`);
  };
}

export function headWorld({
  store = memoryEventStore(),
  tree = memoryTree(),
}: {
  store?: EventStore;
  tree?: TreeStore;
} = {}) {
  const { clock, time, start } = processes({ store });
  const broken: string[] = [];
  const deps = (more: Partial<HeadsDeps> = {}): HeadsDeps => ({
    store,
    codec: eventCodec,
    handle: start(),
    tree,
    clock,
    keys: async () => headKeys(1),
    every: { events: 4, duration_ms: 60_000 },
    tellBroken: ({ stream }) => void broken.push(stream),
    alarm: (message) => assert.fail(message),
    failed: () => {},
    ...more,
  });

  return {
    store,
    tree,
    time,
    broken,
    deps,
    /** Appends one more event to a stream, like the service. */
    async grow(stream: string): Promise<void> {
      const [last] = await store.read(stream, { backwards: true, max: 1 });
      const tip: Tip | null = last ? tipOf(last) : null;
      const facts = { at: minute(0), cause: 'test', appId: null, schemaVersion: 1 } as never;
      await store.append(
        stream,
        tip?.revision ?? 'no_stream',
        seal(stream, tip, [{ type: 'Grown', data: {} }], facts, randomIds),
      );
    },
    /** A process runs one round, until its death if it has a crash point. */
    async look(more: Partial<HeadsDeps> = {}, held?: TreeState): Promise<void> {
      const all = deps(more);
      await signHeads(all, held ?? (await open(all)), signal);
    },
    entries: (): Promise<readonly HeadsEvent[]> => entriesFrom({ store, codec: eventCodec }, 1, 1_000),
    /** The auditor: every entry follows from the previous one, and every root from the log. */
    async audit(): Promise<void> {
      const entries = await entriesFrom({ store, codec: eventCodec }, 1, 1_000);
      assert.deepEqual(verifyHeads(entries), []);
      const log = await whole(store);
      for (const { type, data } of entries) {
        if (type !== 'HeadSigned') continue;
        const covered = log.filter(({ position }) => position <= BigInt(data.position));
        const tips = [...new Map(covered.map((event) => [event.stream, event])).values()];
        const expected = rootOfStreams(tips.map((event) => ({ ...event, link: linkOf(event) })));
        assert.deepEqual([data.root, data.streams, data.events], [expected, `${tips.length}`, `${covered.length}`]);
      }
    },
  };
}

/** The log of the categories that heads cover. */
export async function whole(store: EventStore): Promise<readonly StoredEvent[]> {
  const events: StoredEvent[] = [];
  for await (const batch of store.all({ after: null, prefixes: [''], signal })) {
    events.push(...batch.events);
    if (batch.live) break;
  }
  return events.filter(({ stream }) => coveredCategories.includes(categoryOf(stream)));
}
