import assert from 'node:assert/strict';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import statuses from '@eventstore/db-client/generated/status_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import fc from 'fast-check';
import { appendAnswer } from '../../src/store/append.ts';
import { structuredUuid } from '../../src/store/node/messages.ts';

const { BatchAppendResp } = streams;
const uint64 = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 62n }), fc.bigInt({ min: 0n, max: 300n }));
const anAnswer = fc.record({
  id: fc.uuid({ version: 4 }),
  structured: fc.boolean(),
  revision: uint64,
  position: fc.option(uint64),
  stream: fc.string({ unit: 'grapheme' }),
});

type Answer = typeof anAnswer extends fc.Arbitrary<infer A> ? A : never;

function written({ id, structured, revision, position, stream }: Answer): Buffer {
  const success = new BatchAppendResp.Success().setCurrentRevision(revision.toString());
  if (position !== null) {
    const at = position.toString();
    success.setPosition(new shared.AllStreamPosition().setCommitPosition(at).setPreparePosition(at));
  }
  const reply = new BatchAppendResp()
    .setCorrelationId(structured ? structuredUuid(id) : new shared.UUID().setString(id))
    .setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from(stream)))
    .setSuccess(success);
  return Buffer.from(reply.serializeBinary());
}

describe('the answer to an append', () => {
  it('is what the server wrote, in any spelling of ids and with any omitted fields', () => {
    fc.assert(
      fc.property(anAnswer, (answer) => {
        const { correlationId, outcome } = appendAnswer(written(answer));
        assert.equal(correlationId, answer.id);
        assert.deepEqual(outcome, { revision: answer.revision, position: answer.position });
      }),
    );
  });

  it('is no success when an error follows it: of two outcomes the last one counts', () => {
    const success = { id: crypto.randomUUID(), structured: false, revision: 1n, position: 2n, stream: 's' };
    const error = Buffer.from(new BatchAppendResp().setError(new statuses.Status().setCode(2)).serializeBinary());
    const { correlationId, outcome } = appendAnswer(Buffer.concat([written(success), error]));
    assert.equal(correlationId, success.id);
    assert.equal(typeof outcome, 'function');
  });

  it('is refused, or read, when it is garbage: it neither hangs nor reads beyond its end', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        try {
          appendAnswer(Buffer.from(bytes));
        } catch (error) {
          assert.ok(error instanceof Error);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
