import assert from 'node:assert/strict';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import fc from 'fast-check';
import empty from 'google-protobuf/google/protobuf/empty_pb.js';
import timestamp from 'google-protobuf/google/protobuf/timestamp_pb.js';
import { batchRequest } from '../../../src/store/node/appends.ts';
import { structuredUuid } from '../../../src/store/node/messages.ts';

const { BatchAppendReq } = messages;
const text = fc.string({ unit: 'grapheme', maxLength: 20 });
const bytes = fc.uint8Array({ maxLength: 40 });
const anId = fc.record({ id: fc.uuid(), structured: fc.boolean() });
const anExpected = fc.oneof(
  fc.constantFrom('no_stream' as const, 'any' as const, 'stream_exists' as const, null),
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  fc.bigInt({ min: 0n, max: 300n }),
);
const someOptions = fc.record({
  stream: fc.option(text),
  expected: anExpected,
  deadline: fc.option(fc.record({ seconds: fc.integer({ min: 0, max: 2 ** 40 }), nanos: fc.nat(999_999_999) })),
});
const anEvent = fc.record({
  id: fc.option(anId),
  properties: fc.dictionary(fc.oneof(text, fc.constantFrom('type', 'content-type')), text, { maxKeys: 4 }),
  data: bytes,
  metadata: bytes,
});
const aRequest = fc.record({
  id: fc.option(anId),
  options: fc.option(someOptions),
  events: fc.array(anEvent, { maxLength: 4 }),
  final: fc.boolean(),
});

type Value<A> = A extends fc.Arbitrary<infer T> ? T : never;

const uuid = ({ id, structured }: Value<typeof anId>) =>
  structured ? structuredUuid(id) : new shared.UUID().setString(id);

function optionsOf({ stream, expected, deadline }: Value<typeof someOptions>) {
  const options = new BatchAppendReq.Options();
  if (stream !== null)
    options.setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from(stream).toString('base64')));
  if (expected === 'no_stream') options.setNoStream(new empty.Empty());
  else if (expected === 'any') options.setAny(new empty.Empty());
  else if (expected === 'stream_exists') options.setStreamExists(new empty.Empty());
  else if (expected !== null) options.setStreamPosition(expected.toString());
  if (deadline) options.setDeadline(new timestamp.Timestamp().setSeconds(deadline.seconds).setNanos(deadline.nanos));
  return options;
}

function eventOf({ id, properties, data, metadata }: Value<typeof anEvent>) {
  const event = new BatchAppendReq.ProposedMessage().setData(data).setCustomMetadata(metadata);
  if (id) event.setId(uuid(id));
  for (const [name, value] of Object.entries(properties)) event.getMetadataMap().set(name, value);
  return event;
}

describe('a request of BatchAppend', () => {
  it('is read as its generated message states', () => {
    fc.assert(
      fc.property(aRequest, ({ id, options, events, final }) => {
        const request = new BatchAppendReq().setIsFinal(final).setProposedMessagesList(events.map(eventOf));
        if (id) request.setCorrelationId(uuid(id));
        if (options) request.setOptions(optionsOf(options));
        const read = batchRequest(Buffer.from(request.serializeBinary()));
        assert.equal(read.key, id?.id ?? '');
        assert.equal(read.correlationId === null, id === null);
        assert.equal(read.final, final);
        assert.equal(read.options === null, options === null);
        if (options && read.options) {
          const { stream, expected, deadline } = options;
          assert.equal(read.options.stream.toString(), stream ?? '');
          assert.equal(read.options.expected, expected);
          const deadline_ms = deadline && deadline.seconds * 1_000 + deadline.nanos / 1_000_000;
          assert.equal(read.options.deadline_ms, deadline_ms);
        }
        assert.deepEqual(
          read.proposed.map(({ data, metadata, ...rest }) => ({ ...rest, data: [...data], metadata: [...metadata] })),
          events.map(({ id, properties, data, metadata }) => ({
            id: id?.id ?? '',
            type: properties['type'],
            contentType: properties['content-type'],
            data: [...data],
            metadata: [...metadata],
          })),
        );
      }),
    );
  });

  it('is too late with a deadline before 1970', () => {
    const options = new BatchAppendReq.Options().setDeadline(new timestamp.Timestamp().setSeconds(-5));
    const read = batchRequest(Buffer.from(new BatchAppendReq().setOptions(options).serializeBinary()));
    assert.ok((read.options?.deadline_ms ?? Number.NaN) <= 0);
  });
});
