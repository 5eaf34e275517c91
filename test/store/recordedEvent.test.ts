import assert from 'node:assert/strict';
import fc from 'fast-check';
import { bareRecord, encodeRecord, type LogRecord } from '../../src/store/node/log.ts';
import { caughtUp, checkpointAt, confirmation } from '../../src/store/node/replies.ts';
import { recordedEvent } from '../../src/store/read.ts';
import { eachField } from '../../src/store/wire.ts';

const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });
const record: LogRecord = {
  stream: 'box-1',
  revision: 0,
  position: 64,
  id: '7f0cd4a4-4c05-4a38-a3ef-0e0ac2a5b1c3',
  type: 'Put',
  json: true,
  created_ms: 1_700_000_000_000,
  data: Buffer.from('{}'),
  metadata: Buffer.from('{}'),
};

describe('an event out of the bytes of an answer', () => {
  it('is the written one', () => {
    const written = fc.record({
      stream: name,
      type: name,
      id: fc.uuid(),
      revision: fc.nat(),
      position: fc.maxSafeNat(),
      data: fc.jsonValue(),
      metadata: fc.jsonValue(),
    });
    fc.assert(
      fc.property(written, (event) => {
        const bytes = (value: unknown) => Buffer.from(JSON.stringify(value));
        const data = bytes(event.data);
        const metadata = bytes(event.metadata);
        const read = recordedEvent(bareRecord(encodeRecord({ ...record, ...event, data, metadata })));
        assert.deepEqual(read, {
          ...event,
          revision: BigInt(event.revision),
          position: BigInt(event.position),
          data: JSON.parse(data.toString()),
          metadata: JSON.parse(metadata.toString()),
        });
      }),
    );
  });

  it('has no metadata when none was written, and keeps a text that is not JSON', () => {
    const read = recordedEvent(
      bareRecord(encodeRecord({ ...record, metadata: Buffer.alloc(0), data: Buffer.from('{"half') })),
    );
    assert.equal(read?.metadata, undefined);
    assert.equal(read?.data, '{"half');
    const binary = recordedEvent(bareRecord(encodeRecord({ ...record, json: false, data: Buffer.from([1, 2, 255]) })));
    assert.deepEqual(binary?.data, Uint8Array.of(1, 2, 255));
  });

  it('is not found in the server’s messages between events', () => {
    for (const said of [confirmation('1'), checkpointAt(64), caughtUp()]) {
      assert.equal(recordedEvent(said), null);
    }
  });

  it('is refused when it is cut short', () => {
    const whole = bareRecord(encodeRecord(record));
    assert.throws(() => recordedEvent(whole.subarray(0, -1)), RangeError);
    assert.throws(() => eachField(Buffer.from([0x0f]), 0, 1, () => {}), /unknown wire type 7/);
  });
});
