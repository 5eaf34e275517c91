import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EventStoreDBClient } from '@eventstore/db-client';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_grpc_pb.js';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import { credentials, type ServerWritableStream } from '@grpc/grpc-js';
import empty from 'google-protobuf/google/protobuf/empty_pb.js';
import { batchRequest, createGathering } from '../../../src/store/node/appends.ts';
import { outflow } from '../../../src/store/node/replies.ts';
import { type EmbeddedNode, spawnEmbeddedNode } from '../../../src/store/node/spawn.ts';
import { openStorage } from '../../../src/store/node/storage.ts';
import { createBell, createWriter } from '../../../src/store/node/writer.ts';
import { temporaryDirectory } from '../../support/temporaryDirectory.ts';
import { json, list } from './official.ts';

const { Options } = messages.ReadReq;
const mebibyte = 1024 * 1024;

describe('the queue for a slow client', () => {
  /** A call whose client reads a message only on request. */
  function slowCall() {
    const waiting: (() => void)[] = [];
    const call = {
      cancelled: false,
      on() {},
      get writableLength() {
        return waiting.length;
      },
      write: (_: Buffer, done = () => {}) => waiting.push(done),
    };
    const out = outflow(call as unknown as ServerWritableStream<unknown, Buffer>);
    const take = (count: number): void => {
      for (let n = 0; n < count; n++) waiting.shift()?.();
    };
    return { out, take };
  }

  it('is bounded by its bytes', async () => {
    const { out, take } = slowCall();
    out.write(Buffer.alloc(200_000));
    assert.equal(out.full, false);
    out.write(Buffer.alloc(100_000));
    assert.equal(out.full, true);
    const room = out.room();
    take(2);
    await room;
    assert.equal(out.full, false);
  });

  it('is bounded by its messages', async () => {
    const { out, take } = slowCall();
    for (let n = 0; n < 256; n++) out.write(Buffer.alloc(10));
    assert.equal(out.full, true);
    const room = out.room();
    take(256);
    await room;
  });

  it('lets one message through that is larger than the bound', async () => {
    const { out, take } = slowCall();
    assert.equal(out.full, false);
    out.write(Buffer.alloc(2_000_000));
    const room = out.room();
    take(1);
    await room;
  });
});

describe('appends that clients send faster than they are written', () => {
  const proposal = (data_bytes: number) => ({
    id: randomUUID(),
    type: 'Large',
    json: false,
    data: Buffer.alloc(data_bytes),
    metadata: Buffer.alloc(0),
  });

  it('are bounded by their bytes: those beyond the bound are refused at once, the rest is written', async () => {
    const storage = await openStorage(join(temporaryDirectory(), 'events'));
    const writer = createWriter(storage, createBell());
    const change = (n: number) =>
      ({ kind: 'append', stream: `large-${n}`, expected: 'no_stream', events: [proposal(mebibyte)] }) as const;
    const outcomes = await Promise.allSettled(Array.from({ length: 80 }, (_, n) => writer.submit(change(n))));
    const refused = outcomes.filter(({ status }) => status === 'rejected');
    assert.equal(refused.length, 80 - 64);
    for (const outcome of refused) assert.equal((outcome as PromiseRejectedResult).reason.name, 'Busy');
    assert.equal((await writer.submit(change(99))).kind, 'done', 'there is room again');
    await storage.close();
  });

  it('are bounded while their chunks are gathered', () => {
    const refused: string[] = [];
    const gathering = createGathering(
      () => assert.fail('none is whole'),
      (_, reason) => refused.push('getMessage' in reason ? reason.getMessage() : reason.kind),
    );
    const chunk = () => {
      const event = new messages.BatchAppendReq.ProposedMessage()
        .setId(new shared.UUID().setString(randomUUID()))
        .setCustomMetadata(Buffer.alloc(10 * mebibyte));
      event.getMetadataMap().set('type', 'Large').set('content-type', 'application/octet-stream');
      return new messages.BatchAppendReq()
        .setCorrelationId(new shared.UUID().setString(randomUUID()))
        .setOptions(
          new messages.BatchAppendReq.Options()
            .setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from('slow-1').toString('base64')))
            .setAny(new empty.Empty()),
        )
        .setProposedMessagesList([event]);
    };
    for (let n = 0; n < 8; n++) gathering.take(batchRequest(Buffer.from(chunk().serializeBinary())));
    assert.deepEqual(refused, ['Server Is Busy', 'Server Is Busy']);
    gathering.clear();
  });
});

describe('a node with stopped readers', () => {
  let node: EmbeddedNode;
  before(async () => {
    node = await spawnEmbeddedNode({ dataDir: temporaryDirectory(), port: 0 });
  });
  after(() => node.stop());

  /** The node's memory in bytes, without the data file that is mapped into it. */
  const memory = (): number =>
    Number(/RssAnon:\s+(\d+) kB/.exec(readFileSync(`/proc/${node.pid}/status`, 'utf8'))?.[1]) * 1024;

  it('holds little for each of them, however large the events are', async function () {
    if (process.platform !== 'linux') this.skip();
    const client = EventStoreDBClient.connectionString(node.url);
    const event = json('Large', { text: 'x'.repeat(mebibyte - 100) });
    for (let n = 0; n < 24; n++) await client.appendToStream('large-1', { ...event, id: randomUUID() });
    const options = new Options()
      .setUuidOption(new Options.UUIDOption().setString(new shared.Empty()))
      .setAll(new Options.AllOptions().setStart(new shared.Empty()))
      .setNoFilter(new shared.Empty())
      .setSubscription(new Options.SubscriptionOptions());
    const readers = Array.from({ length: 12 }, () => {
      const raw = new streams.StreamsClient(new URL(node.url).host, credentials.createInsecure(), {
        'grpc.use_local_subchannel_pool': 1,
      });
      const call = raw.read(new messages.ReadReq().setOptions(options));
      call.on('error', () => {});
      return { raw, call };
    });
    const before_bytes = memory();
    for (let look = 0; look < 10; look++) {
      await sleep(100);
      await list(client.readStream('large-1', { maxCount: 2 }));
    }
    const grown_bytes = memory() - before_bytes;
    assert.ok(grown_bytes < 150 * mebibyte, `twelve readers took ${Math.round(grown_bytes / mebibyte)} MiB`);
    for (const { raw, call } of readers) {
      call.cancel();
      raw.close();
    }
    await client.dispose();
  });
});
