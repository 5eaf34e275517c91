/** The two clients that sequences are performed with, on one twin. */

import { randomUUID } from 'node:crypto';
import { binaryEvent, EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import streams from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { credentials } from '@grpc/grpc-js';
import { instant } from '../../../domain/time.ts';
import { type OpenEventStore, openEventStore } from '../../../src/store/client.ts';
import { list } from '../../store/node/official.ts';
import { onStop } from '../../support/hooks.ts';
import { whenAvailable } from '../../support/whenAvailable.ts';
import { type Said, type Seen, seenBy, seenByProduct } from './seen.ts';
import { type Listening, listen, type Source } from './subscription.ts';
import type { Twin } from './twin.ts';

export type ExpectedRevision = 'any' | 'no_stream' | 'stream_exists' | bigint;

export interface Proposed {
  readonly id: string;
  readonly binary: boolean;
  readonly n: number;
}

export interface StreamRead {
  readonly from: 'start' | 'end' | number;
  readonly backwards: boolean;
  readonly max: number;
}

export interface TwinClient {
  append(
    stream: string,
    expected: ExpectedRevision,
    events: readonly Proposed[],
  ): Promise<{ revision: bigint; position: bigint | null }>;
  readStream(stream: string, read: StreamRead): Promise<Seen[]>;
  follow(source: Source, listening: Listening): Promise<Said[]>;
}

/** Both clients of one twin, for all sequences. */
export interface Clients {
  readonly twin: Twin;
  official(): EventStoreDBClient;
  readonly store: OpenEventStore;
  as(kind: 'official' | 'product'): TwinClient;
  /** Resolves when the product's client has appended: after a restart an append that it repeats would come behind later ones. */
  appending(): Promise<void>;
  /** To be called after a restart. The product's client stays: it finds the store again. */
  renew(): Promise<void>;
}

export function openClients(twin: Twin): Clients {
  let official = EventStoreDBClient.connectionString(twin.url);
  let raw = rawClient(twin.url);
  const store = openEventStore({ url: twin.url });
  onStop(async () => {
    raw.close();
    await official.dispose();
    await store.close();
  });
  const officially: TwinClient = {
    async append(stream, expectedRevision, events) {
      const { nextExpectedRevision, position } = await official.appendToStream(stream, events.map(officialEvent), {
        expectedRevision,
      });
      return { revision: nextExpectedRevision, position: position?.commit ?? null };
    },
    async readStream(stream, { from, backwards, max }) {
      const options = {
        direction: backwards ? ('backwards' as const) : ('forwards' as const),
        fromRevision: typeof from === 'number' ? BigInt(from) : from,
        maxCount: max,
      };
      return (await list(official.readStream(stream, options))).map(seenBy);
    },
    follow: (source, listening) => listen(raw, source, listening),
  };
  async function appending(): Promise<void> {
    const ready = [productEvent(anEvent())];
    await whenAvailable(() => store.append(`ready-${ready[0]?.id}`, 'no_stream', ready));
  }
  return {
    twin,
    official: () => official,
    store,
    as: (kind) => (kind === 'official' ? officially : productClient(store, officially, appending)),
    appending,
    async renew() {
      raw.close();
      await official.dispose();
      official = EventStoreDBClient.connectionString(twin.url);
      raw = rawClient(twin.url);
    },
  };
}

const rawClient = (url: string) => new streams.StreamsClient(new URL(url).host, credentials.createInsecure());

const officialEvent = ({ id, binary, n }: Proposed) =>
  binary
    ? binaryEvent({ id, type: 'Bytes', data: Uint8Array.of(n, 0, 255) })
    : jsonEvent({ id, type: 'Happened', data: { n }, metadata: { n } });

const anEvent = (): Proposed => ({ id: randomUUID(), binary: false, n: 0 });

const productEvent = ({ id, n }: Proposed) => ({
  id,
  type: 'Happened',
  data: { n },
  metadata: { prev: null, at: instant(0), cause: 'test', appId: null, schemaVersion: 1 },
});

/** The product's adapter. It supports only exact expectations and follows only the whole log; `others` does the rest. */
function productClient(store: OpenEventStore, others: TwinClient, appending: () => Promise<void>): TwinClient {
  return {
    append(stream, expected, events) {
      if (expected === 'any' || expected === 'stream_exists') return others.append(stream, expected, events);
      return whenAvailable(() => store.append(stream, expected, events.map(productEvent)));
    },
    async readStream(stream, { from, backwards, max }) {
      if (from === 'end' && !backwards) return others.readStream(stream, { from, backwards, max });
      const start = typeof from === 'number' ? BigInt(from) : from === 'start' ? 0n : undefined;
      const found = await whenAvailable(() =>
        store.read(stream, { backwards, max, ...(start !== undefined && { from: start }) }),
      );
      return found.map(seenByProduct);
    },
    async follow(source, listening) {
      if (source.stream !== null || source.prefixes === null) return others.follow(source, listening);
      const after =
        source.after === 'start' ? null : source.after === 'end' ? await whenAvailable(store.tail) : source.after;
      const { prefixes } = source;
      // An append that finds a broken connection would end a subscription that is already live.
      await appending();
      return whenAvailable(() => followBatches(store, after, prefixes, listening));
    },
  };
}

async function followBatches(
  store: OpenEventStore,
  after: bigint | null,
  prefixes: readonly string[],
  { caughtUp, isLast }: Listening,
): Promise<Said[]> {
  const leave = new AbortController();
  const said: Said[] = [];
  let reached = after ?? -1n;
  let isLive = false;
  for await (const { events, position, live } of store.all({ after, prefixes, signal: leave.signal })) {
    for (const event of events) {
      const isBetween = event.position > reached && event.position <= position;
      said.push(seenByProduct(event), ...(isBetween ? [] : [{ wrong: 'an event outside its batch' }]));
      if (isLast(seenByProduct(event))) leave.abort();
    }
    reached = position;
    if (!live || isLive) continue;
    isLive = true;
    said.push('caughtUp');
    await caughtUp();
  }
  return said;
}
