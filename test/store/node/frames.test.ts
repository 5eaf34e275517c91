import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import gossip from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import features from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_grpc_pb.js';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import { Client, credentials, status } from '@grpc/grpc-js';
import fc from 'fast-check';
import empty from 'google-protobuf/google/protobuf/empty_pb.js';
import timestamp from 'google-protobuf/google/protobuf/timestamp_pb.js';
import { checkFrame, requestShapes } from '../../../src/store/node/requests.ts';
import { type EmbeddedNode, spawnEmbeddedNode } from '../../../src/store/node/spawn.ts';
import { patience_ms } from '../../support/patience.ts';
import { temporaryDirectory } from '../../support/temporaryDirectory.ts';

const { ReadReq, AppendReq, BatchAppendReq, DeleteReq, TombstoneReq } = messages;
const none = (): shared.Empty => new shared.Empty();
const identifier = () => new shared.StreamIdentifier().setStreamName(Buffer.from('fuzzed-1').toString('base64'));
const anId = () => new shared.UUID().setString(randomUUID());
const structuredId = () =>
  new shared.UUID().setStructured(
    new shared.UUID.Structured().setMostSignificantBits('-5').setLeastSignificantBits('77'),
  );

function proposed<M extends messages.AppendReq.ProposedMessage | messages.BatchAppendReq.ProposedMessage>(message: M) {
  message.setId(anId());
  message.getMetadataMap().set('type', 'Happened').set('content-type', 'application/json');
  message.setData(Buffer.from('{"n":1}'));
  message.setCustomMetadata(Buffer.from('{}'));
  return message;
}

const options = () => new ReadReq.Options().setUuidOption(new ReadReq.Options.UUIDOption().setString(none()));
const expression = () => new ReadReq.Options.FilterOptions.Expression();
const filter = () =>
  new ReadReq.Options.FilterOptions().setMax(32).setCheckpointintervalmultiplier(1).setEventType(expression());

/** Requests that use every field of the client. */
const valid: Record<keyof typeof requestShapes, { serializeBinary(): Uint8Array }[]> = {
  read: [
    new ReadReq().setOptions(
      options()
        .setStream(new ReadReq.Options.StreamOptions().setStreamIdentifier(identifier()).setRevision('3'))
        .setNoFilter(none())
        .setCount('7')
        .setResolveLinks(true)
        .setControlOption(new ReadReq.Options.ControlOption().setCompatibility(1)),
    ),
    new ReadReq().setOptions(
      options()
        .setAll(
          new ReadReq.Options.AllOptions().setPosition(
            new ReadReq.Options.Position().setCommitPosition('0').setPreparePosition('0'),
          ),
        )
        .setFilter(filter().setStreamIdentifier(expression().setRegex('^a').setPrefixList(['b', 'c'])))
        .setReadDirection(1)
        .setCount('5'),
    ),
    new ReadReq().setOptions(
      new ReadReq.Options()
        .setUuidOption(new ReadReq.Options.UUIDOption().setStructured(none()))
        .setAll(new ReadReq.Options.AllOptions().setStart(none()))
        .setSubscription(new ReadReq.Options.SubscriptionOptions())
        .setFilter(filter().setCount(none())),
    ),
  ],
  append: [
    new AppendReq().setOptions(new AppendReq.Options().setStreamIdentifier(identifier()).setAny(none())),
    new AppendReq().setOptions(new AppendReq.Options().setStreamIdentifier(identifier()).setRevision('0')),
    new AppendReq().setProposedMessage(proposed(new AppendReq.ProposedMessage())),
  ],
  batchAppend: [
    new BatchAppendReq()
      .setCorrelationId(structuredId())
      .setOptions(
        new BatchAppendReq.Options()
          .setStreamIdentifier(identifier())
          .setAny(new empty.Empty())
          .setDeadline(new timestamp.Timestamp().setSeconds(4_000_000_000).setNanos(5)),
      )
      .setProposedMessagesList([
        proposed(new BatchAppendReq.ProposedMessage()),
        proposed(new BatchAppendReq.ProposedMessage()),
      ])
      .setIsFinal(true),
    new BatchAppendReq()
      .setCorrelationId(anId())
      .setOptions(new BatchAppendReq.Options().setStreamIdentifier(identifier()).setStreamPosition('9')),
  ],
  delete: [
    new DeleteReq().setOptions(new DeleteReq.Options().setStreamIdentifier(identifier()).setStreamExists(none())),
  ],
  tombstone: [
    new TombstoneReq().setOptions(new TombstoneReq.Options().setStreamIdentifier(identifier()).setNoStream(none())),
  ],
};
const framesOf = (method: keyof typeof valid): Buffer[] =>
  valid[method].map((message) => Buffer.from(message.serializeBinary()));

/** A length far beyond the message, which made the decoder read for ever. */
const endless = Buffer.from('0affffffff0f', 'hex');

/** Frames of BatchAppend with correct lengths that the decoder reads differently. */
const readOtherwise = {
  'a field’s number beyond 32 bits, of which it takes the lower half': `8a80808010 06 ${endless.toString('hex')}`,
  'an entry of a map with another field, which it does not skip': '1a0a 1208 1812 faffffff0f 00',
  'text that ends within a character, which it reads to its end': `0a0c 1201f0 2a0700 ${endless.toString('hex')}`,
};
const bytesOf = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex');

describe('a frame', () => {
  for (const method of Object.keys(valid) as (keyof typeof valid)[]) {
    const shape = requestShapes[method];

    it(`for ${method} passes as the official client writes it, with unknown fields too`, () => {
      const unknown = Buffer.from([0xf8, 0x07, 0x01, 0xfa, 0x07, 0x02, 0xff, 0xff, 0xfd, 0x07, 1, 2, 3, 4]);
      for (const frame of framesOf(method)) {
        checkFrame(frame, shape);
        checkFrame(Buffer.concat([frame, unknown]), shape);
      }
    });

    it(`for ${method} is refused when it is truncated, or one of its lengths points beyond it`, () => {
      assert.throws(() => checkFrame(endless, shape), { name: 'MalformedFrame' });
      assert.throws(() => checkFrame(Buffer.from('08ffffffff0f', 'hex'), shape), { name: 'MalformedFrame' });
      for (const frame of framesOf(method)) {
        assert.throws(() => checkFrame(frame.subarray(0, -1), shape), { name: 'MalformedFrame' });
        assert.throws(() => checkFrame(Buffer.concat([frame, Buffer.from([0x0b])]), shape), { name: 'MalformedFrame' });
      }
    });
  }

  for (const [what, hex] of Object.entries(readOtherwise)) {
    it(`is refused with content that hides a length from the check: ${what}`, () => {
      assert.throws(() => checkFrame(bytesOf(hex), requestShapes.batchAppend), { name: 'MalformedFrame' });
    });
  }

  it('passes with text of any language', () => {
    const event = proposed(new BatchAppendReq.ProposedMessage());
    event.getMetadataMap().set('ß→日本', '😀');
    const frame = Buffer.from(new BatchAppendReq().setProposedMessagesList([event]).serializeBinary());
    checkFrame(frame, requestShapes.batchAppend);
  });

  it('with more parts than possible events is refused before they become objects', () => {
    const hollow = Buffer.alloc(1_200_000, Buffer.from([0x1a, 0x00]));
    assert.throws(() => checkFrame(hollow, requestShapes.batchAppend), /at most 524288 parts/);
  });
});

/** Some broken frames begin a call that waits for more: it is left after this time. */
const brokenMost_ms = 250;

describe('a node that receives broken frames', () => {
  const lost: unknown[] = [];
  let node: EmbeddedNode;
  let client: Client;
  before(async () => {
    node = await spawnEmbeddedNode({ dataDir: temporaryDirectory(), port: 0, onLost: (exit) => lost.push(exit) });
    client = new Client(new URL(node.url).host, credentials.createInsecure());
  });
  after(async () => {
    client.close();
    await node.stop();
  });

  const asIs = (bytes: Buffer): Buffer => bytes;

  /**
   * Sends frames to any method; resolves with the status that ended the call, or null if the call still waits for more.
   * @param limit_ms for calls that may wait for more; default: the patience of specs
   */
  function send(path: string, frames: readonly Buffer[], limit_ms = patience_ms): Promise<number | null> {
    const call = client.makeBidiStreamRequest(path, asIs, asIs, { deadline: Date.now() + limit_ms });
    return new Promise((resolve) => {
      call.on('data', () => {});
      call.on('error', () => {});
      call.on('status', ({ code }) => resolve(code === status.DEADLINE_EXCEEDED ? null : code));
      for (const frame of frames) call.write(frame);
      call.end();
    });
  }

  async function stillAnswers(): Promise<void> {
    const { path } = features.ServerFeaturesService.getSupportedMethods;
    assert.equal(await send(path, [Buffer.alloc(0)]), status.OK);
    assert.deepEqual(lost, []);
  }

  const methods = [
    ...Object.entries(streams.StreamsService).map(([name, { path }]) => ({
      path,
      frames: framesOf(name as keyof typeof valid),
    })),
    { path: gossip.GossipService.read.path, frames: [Buffer.from([0x0a, 0x01, 0x41])] },
    { path: features.ServerFeaturesService.getSupportedMethods.path, frames: [Buffer.from([0x0a, 0x01, 0x41])] },
  ];

  it('refuses content that hides a length from the check, and continues', async () => {
    const { path } = streams.StreamsService.batchAppend;
    for (const hex of Object.values(readOtherwise)) assert.equal(await send(path, [bytesOf(hex)]), status.INTERNAL);
    await stillAnswers();
  });

  for (const { path, frames } of methods) {
    it(`refuses an endless length sent to ${path}, and continues`, async () => {
      assert.equal(await send(path, [endless]), status.INTERNAL);
      await stillAnswers();
    });

    it(`answers after two hundred broken frames sent to ${path}`, async () => {
      const broken = fc.oneof(
        fc.uint8Array({ minLength: 1, maxLength: 64 }).map((bytes) => Buffer.from(bytes)),
        fc
          .record({
            frame: fc.constantFrom(...frames),
            at: fc.double({ min: 0, max: 0.999, noNaN: true }),
            by: fc.uint8Array({ minLength: 1, maxLength: 6 }),
            insert: fc.boolean(),
          })
          .map(({ frame, at, by, insert }) => {
            const place = Math.floor(at * frame.length);
            return Buffer.concat([frame.subarray(0, place), by, frame.subarray(insert ? place : place + by.length)]);
          }),
      );
      const sent = fc.sample(broken, 200);
      for (let i = 0; i < sent.length; i += 20) {
        await Promise.all(sent.slice(i, i + 20).map((frame) => send(path, [frame], brokenMost_ms)));
      }
      await stillAnswers();
    });
  }
});
