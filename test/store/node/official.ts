/** The official client, unmodified, against the node: these tests observe what any EventStoreDB client observes. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { EventStoreDBClient, type JSONEventData, jsonEvent } from '@eventstore/db-client';
import streams from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { credentials } from '@grpc/grpc-js';
import { spawnEmbeddedNode } from '../../../src/store/node/spawn.ts';
import { givenEventStore, onStop } from '../../support/hooks.ts';
import { temporaryDirectory } from '../../support/temporaryDirectory.ts';

let started: Promise<string> | undefined;

/** Specs of behaviour that differs from the original; a run against the original skips them and states the reason. */
export function oursAlone(why: string) {
  return (title: string, spec: Mocha.AsyncFunc): Mocha.Test =>
    givenEventStore === undefined ? it(title, spec) : it.skip(`${title} (ours alone: ${why})`, spec);
}

/** A node without other writers. With EVENTSTORE_URL it is the real server, which proves that these tests describe it. */
function nodeUrl(): Promise<string> {
  started ??= start();
  return started;
}

async function start(): Promise<string> {
  if (givenEventStore !== undefined) return givenEventStore;
  const node = await spawnEmbeddedNode({ dataDir: temporaryDirectory(), port: 0 });
  onStop(() => node.stop());
  return node.url;
}

export async function officialClient(): Promise<EventStoreDBClient> {
  const url = await nodeUrl();
  const client = EventStoreDBClient.connectionString(url);
  onStop(() => client.dispose());
  return client;
}

/** The generated stubs alone, for single messages. */
export async function rawClient(): Promise<streams.StreamsClient> {
  const url = await nodeUrl();
  const client = new streams.StreamsClient(new URL(url).host, credentials.createInsecure());
  onStop(() => client.close());
  return client;
}

export const newStream = (): string => `node-${randomUUID()}`;

export const json = (type = 'Happened', data: object = {}): JSONEventData =>
  jsonEvent({ type, data: data as Record<string, unknown> });

export const many = (count: number, type = 'Happened'): JSONEventData[] =>
  Array.from({ length: count }, (_, n) => json(type, { n }));

/** Collects a whole read. */
export async function list<T>(reading: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of reading) items.push(item);
  return items;
}

export async function revisions(
  reading: AsyncIterable<{ readonly event?: { readonly revision: bigint } }>,
): Promise<number[]> {
  return (await list(reading)).map(({ event }) => Number(event?.revision));
}

/** Asserts the error type of the client. */
export const failsWith = (work: Promise<unknown>, type: string): Promise<void> =>
  assert.rejects(work, (error) => {
    assert.equal((error as { type?: unknown }).type, type);
    return true;
  });
