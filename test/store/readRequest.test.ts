import assert from 'node:assert/strict';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import fc from 'fast-check';
import { encodeReadRequest } from '../../src/store/read.ts';

const { ReadDirection } = messages.ReadReq.Options;
const readings = fc.record({
  stream: fc.option(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 })),
  from: fc.option(fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }), { nil: undefined }),
  backwards: fc.boolean(),
  max: fc.integer({ min: 1, max: 2 ** 40 }),
  prefixes: fc.option(fc.array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }), { minLength: 1 }), {
    nil: undefined,
  }),
});

/** Start of the read in the generated message. */
function beginningIn(options: messages.ReadReq.Options | undefined): string {
  const of = options?.getStream() ?? options?.getAll();
  if (of?.hasStart()) return 'start';
  if (of?.hasEnd()) return 'end';
  const position = options?.getAll()?.getPosition();
  if (position) assert.equal(position.getPreparePosition(), position.getCommitPosition());
  return options?.getStream()?.getRevision() ?? position?.getCommitPosition() ?? 'nowhere';
}

describe('the request of a reading', () => {
  it('has the intended content for the generated messages', () => {
    fc.assert(
      fc.property(readings, ({ stream, from, backwards, max, ...rest }) => {
        const prefixes = stream === null ? rest.prefixes : undefined;
        const bytes = encodeReadRequest({ stream, from, backwards, max, ...(prefixes && { prefixes }) });
        const options = messages.ReadReq.deserializeBinary(bytes).getOptions();
        const name = options?.getStream()?.getStreamIdentifier()?.getStreamName_asU8();
        assert.equal(name === undefined ? null : Buffer.from(name).toString(), stream);
        assert.equal(options?.hasAll(), stream === null);
        assert.equal(options?.getReadDirection(), backwards ? ReadDirection.BACKWARDS : ReadDirection.FORWARDS);
        assert.equal(options?.getCount(), String(max));
        assert.equal(options?.hasSubscription(), false);
        assert.equal(options?.hasNoFilter(), prefixes === undefined);
        const filter = options?.getFilter();
        assert.deepEqual(filter?.getStreamIdentifier()?.getPrefixList(), prefixes);
        assert.equal(filter?.getCheckpointintervalmultiplier(), prefixes && 1);
        assert.equal(options?.getUuidOption()?.hasString(), true);
        assert.equal(options?.getResolveLinks(), false);
        const end = backwards ? 'end' : 'start';
        assert.equal(beginningIn(options), from === undefined ? end : String(from));
      }),
    );
  });
});
