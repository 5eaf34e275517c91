import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import fc from 'fast-check';
import { createRecentIds } from '../../../src/store/node/changes.ts';
import { openRecord } from '../../../src/store/node/environment.ts';
import { bareRecord, encodeRecord, peekRecord, revisionOf } from '../../../src/store/node/log.ts';

describe('a record of the log', () => {
  it('is the message for a reader, for any event', () => {
    const recorded = fc.record({
      stream: fc.string({ unit: 'binary', minLength: 1, maxLength: 200 }).filter((text) => text.isWellFormed()),
      revision: fc.oneof(fc.nat(), fc.maxSafeNat(), fc.constant(2n ** 63n - 1n)),
      position: fc.maxSafeNat(),
      id: fc.uuid(),
      type: fc.string({ unit: 'binary', minLength: 1 }).filter((text) => text.isWellFormed()),
      json: fc.boolean(),
      created_ms: fc.nat({ max: 4_000_000_000_000 }),
      data: fc.uint8Array({ maxLength: 40_000 }),
      metadata: fc.uint8Array({ maxLength: 300 }),
    });
    fc.assert(
      fc.property(recorded, (given) => {
        const sealed = encodeRecord(given);
        const record = bareRecord(sealed);
        assert.deepEqual(openRecord(sealed, given.position), record);
        const reply = messages.ReadResp.deserializeBinary(record).getEvent();
        const event = reply?.getEvent();
        assert.equal(reply?.getCommitPosition(), given.position.toString());
        assert.deepEqual(event?.getId()?.getString(), given.id);
        assert.equal(Buffer.from(event!.getStreamIdentifier()!.getStreamName_asU8()).toString(), given.stream);
        assert.equal(event?.getStreamRevision(), given.revision.toString());
        assert.deepEqual(
          [event?.getCommitPosition(), event?.getPreparePosition()],
          Array(2).fill(given.position.toString()),
        );
        assert.deepEqual(Object.fromEntries(event!.getMetadataMap().getEntryList()), {
          type: given.type,
          created: `${given.created_ms}0000`,
          'content-type': given.json ? 'application/json' : 'application/octet-stream',
        });
        assert.deepEqual(Buffer.from(event!.getData_asU8()), Buffer.from(given.data));
        assert.deepEqual(Buffer.from(event!.getCustomMetadata_asU8()), Buffer.from(given.metadata));
        assert.equal(revisionOf(record), Number(given.revision));
        for (const part of ['id', 'stream', 'type'] as const) assert.equal(peekRecord(record, part), given[part]);
      }),
    );
  });
});

describe('the memory of recent ids', () => {
  it('keeps the first place of an id and knows it only in its stream', () => {
    const recent = createRecentIds();
    const id = randomUUID();
    recent.remember(id, 'a', 3);
    recent.remember(id, 'b', 7);
    assert.equal(recent.find(id, 'a'), 3);
    assert.equal(recent.find(id, 'b'), undefined);
    recent.forgetAll();
    assert.equal(recent.find(id, 'a'), undefined);
  });

  it('is bounded, and always contains the newest', () => {
    const recent = createRecentIds(10);
    for (let n = 0; n < 100; n++) recent.remember(`${n}`, 's', n);
    const known = [...Array(100).keys()].filter((n) => recent.find(`${n}`, 's') === n);
    assert.ok(known.length >= 10 && known.length <= 20);
    assert.deepEqual(known.slice(-10), [90, 91, 92, 93, 94, 95, 96, 97, 98, 99]);
  });
});
