import assert from 'node:assert/strict';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import fc from 'fast-check';
import { appendRequest } from '../../src/store/append.ts';
import { uuidText } from '../../src/store/node/messages.ts';
import { event } from './events.ts';

const text = fc.string({ unit: 'binary', maxLength: 40 });
const appends = fc.record({
  stream: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
  expected: fc.oneof(fc.constant('no_stream' as const), fc.bigInt({ min: 0n, max: 2n ** 63n - 1n })),
  events: fc.array(
    fc
      .record({ type: fc.string({ unit: 'grapheme', minLength: 1 }), data: fc.dictionary(text, text) })
      .map(({ type, data }) => ({ ...event(), type, data })),
    { minLength: 1, maxLength: 5 },
  ),
});

describe('the request of an append', () => {
  it('has the intended content for the generated messages', () => {
    fc.assert(
      fc.property(appends, fc.uuid(), fc.integer({ min: 0, max: 2 ** 33 }), (append, id, deadline_s) => {
        const request = messages.BatchAppendReq.deserializeBinary(appendRequest(id, append, deadline_s));
        const options = request.getOptions();
        const name = options?.getStreamIdentifier()?.getStreamName_asU8() ?? '';
        assert.equal(uuidText(request.getCorrelationId()), id);
        assert.equal(Buffer.from(name).toString(), append.stream);
        assert.equal(options?.getDeadline()?.getSeconds(), deadline_s);
        assert.equal(options?.hasNoStream(), append.expected === 'no_stream');
        if (append.expected !== 'no_stream') assert.equal(options?.getStreamPosition(), append.expected.toString());
        assert.equal(request.getIsFinal(), true);
        const read = request.getProposedMessagesList().map((message) => ({
          id: uuidText(message.getId()),
          type: message.getMetadataMap().get('type'),
          contentType: message.getMetadataMap().get('content-type'),
          data: JSON.parse(Buffer.from(message.getData_asU8()).toString()),
          metadata: JSON.parse(Buffer.from(message.getCustomMetadata_asU8()).toString()),
        }));
        const meant = append.events.map((event) => ({ ...event, contentType: 'application/json' }));
        assert.deepEqual(read, JSON.parse(JSON.stringify(meant)));
      }),
    );
  });
});
