import assert from 'node:assert/strict';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { failsWith, json, list, many, newStream, officialClient, oursAlone, revisions } from './official.ts';

describe("the node's deletions and metadata", () => {
  let client: EventStoreDBClient;
  let stream: string;
  before(async () => {
    client = await officialClient();
  });
  beforeEach(() => {
    stream = newStream();
  });
  const rawMetadata = async (): Promise<unknown[]> =>
    (await list(client.readStream(`$$${stream}`, { direction: 'backwards', fromRevision: 'end' }))).map(
      ({ event }) => event?.data,
    );

  describe('soft delete', () => {
    it('hides a stream from its readers, not from the log', async () => {
      const { position } = await client.appendToStream(stream, many(3));
      await client.deleteStream(stream, { expectedRevision: 2n });
      await failsWith(list(client.readStream(stream)), 'stream-not-found');
      const [last] = await list(client.readAll({ fromPosition: position!, maxCount: 1 }));
      assert.equal(last?.event?.streamId, stream);
    });

    for (const expectedRevision of ['any', 'no_stream', 1n] as const) {
      it(`lets the stream continue where it was when ${expectedRevision} is expected`, async () => {
        await client.appendToStream(stream, many(2));
        await client.deleteStream(stream);
        const { nextExpectedRevision } = await client.appendToStream(stream, many(2), { expectedRevision });
        assert.equal(nextExpectedRevision, 3n);
        assert.deepEqual(await revisions(client.readStream(stream)), [2, 3]);
        assert.deepEqual(await rawMetadata(), [{ $tb: 2 }]);
      });
    }

    it('is refused for a stream that never was, with any expectation', async () => {
      for (const expectedRevision of ['any', 'no_stream', 0n] as const) {
        await failsWith(client.deleteStream(stream, { expectedRevision }), 'wrong-expected-version');
      }
    });

    it('is refused at the wrong revision and states the right one', async () => {
      await client.appendToStream(stream, many(2));
      await assert.rejects(client.deleteStream(stream, { expectedRevision: 5n }), (error) => {
        const { expectedVersion, actualVersion } = error as unknown as Record<string, unknown>;
        assert.deepEqual([expectedVersion, actualVersion], [5n, 1n]);
        return true;
      });
    });

    it('can be repeated, but not by a caller that expects the stream to exist', async () => {
      await client.appendToStream(stream, json());
      await client.deleteStream(stream);
      await client.deleteStream(stream);
      await client.deleteStream(stream, { expectedRevision: 0n });
      await failsWith(client.appendToStream(stream, json(), { expectedRevision: 'stream_exists' }), 'stream-deleted');
    });

    it('hides the position of a repeated append: its event cannot be read any more', async () => {
      const events = many(2);
      const repeat = () => client.appendToStream(stream, events, { expectedRevision: 'no_stream' });
      assert.ok((await repeat()).position);
      assert.ok((await repeat()).position);
      await client.deleteStream(stream);
      const { success, nextExpectedRevision, position } = await repeat();
      assert.deepEqual([success, nextExpectedRevision, position], [true, 1n, undefined]);
    });

    oursAlone('the original shows it a moment after the answer')(
      'is undone by an append before its answer',
      async () => {
        await client.appendToStream(stream, json());
        await client.deleteStream(stream);
        await client.appendToStream(stream, json());
        assert.deepEqual(await revisions(client.readStream(stream)), [1]);
      },
    );

    it('is undone by setting metadata', async () => {
      await client.appendToStream(stream, many(2));
      await client.deleteStream(stream);
      await client.setStreamMetadata(stream, { maxCount: 5 });
      assert.deepEqual(await rawMetadata(), [{ $maxCount: 5, $tb: 2 }]);
      await client.appendToStream(stream, json(), { expectedRevision: 1n });
      assert.deepEqual(await revisions(client.readStream(stream)), [2]);
    });
  });

  describe('tombstone', () => {
    it('ends a stream for good', async () => {
      await client.appendToStream(stream, json());
      await client.tombstoneStream(stream, { expectedRevision: 0n });
      await failsWith(client.appendToStream(stream, json()), 'stream-deleted');
      await failsWith(client.appendToStream(`$$${stream}`, json('$metadata')), 'stream-deleted');
      await failsWith(client.deleteStream(stream), 'stream-deleted');
      await failsWith(client.tombstoneStream(stream), 'stream-deleted');
      await failsWith(list(client.readStream(stream)), 'stream-deleted');
      await failsWith(client.getStreamMetadata(stream), 'stream-deleted');
    });

    it('is not reported to an invalid read: forwards from the end', async () => {
      await client.tombstoneStream(stream);
      await failsWith(list(client.readStream(stream, { fromRevision: 'end' })), 'unknown');
    });

    oursAlone('the original accepts metadata where there has been some before')(
      'ends the metadata of a stream as well',
      async () => {
        await client.setStreamMetadata(stream, { maxCount: 4 });
        await client.tombstoneStream(stream);
        await failsWith(client.setStreamMetadata(stream, { maxCount: 5 }), 'stream-deleted');
      },
    );

    it('may come before the stream', async () => {
      await failsWith(client.tombstoneStream(stream, { expectedRevision: 3n }), 'wrong-expected-version');
      await client.tombstoneStream(stream, { expectedRevision: 'no_stream' });
      await failsWith(client.appendToStream(stream, json()), 'stream-deleted');
    });

    it('is in the log as the last possible revision', async () => {
      const { position } = await client.tombstoneStream(stream);
      const [last] = await list(client.readAll({ fromPosition: position!, maxCount: 1 }));
      assert.equal(last?.event?.type, '$streamDeleted');
      assert.equal(last?.event?.revision, 2n ** 63n - 1n);
    });
  });

  describe('stream metadata', () => {
    it('is read back with its revision, and is none at first', async () => {
      assert.equal((await client.getStreamMetadata(stream)).metadata, undefined);
      await client.setStreamMetadata(stream, { maxCount: 3, custom: { any: 'thing' } });
      assert.deepEqual((await client.getStreamMetadata(stream)).metadata, { maxCount: 3, custom: { any: 'thing' } });
    });

    it('shows only the last $maxCount events', async () => {
      await client.appendToStream(stream, many(5));
      await client.setStreamMetadata(stream, { maxCount: 2 });
      assert.deepEqual(await revisions(client.readStream(stream)), [3, 4]);
      assert.deepEqual(
        await revisions(client.readStream(stream, { direction: 'backwards', fromRevision: 'end' })),
        [4, 3],
      );
      await client.appendToStream(stream, json());
      assert.deepEqual(await revisions(client.readStream(stream, { fromRevision: 0n })), [4, 5]);
    });

    it('hides events before $tb', async () => {
      await client.appendToStream(stream, many(5));
      await client.setStreamMetadata(stream, { truncateBefore: 3 });
      assert.deepEqual(await revisions(client.readStream(stream)), [3, 4]);
      await client.setStreamMetadata(stream, { truncateBefore: 99 });
      assert.deepEqual(await revisions(client.readStream(stream)), [], 'empty, but not missing');
    });

    it('hides events older than $maxAge', async () => {
      await client.appendToStream(stream, many(2));
      await client.setStreamMetadata(stream, { maxAge: 3_600 });
      assert.deepEqual(await revisions(client.readStream(stream)), [0, 1]);
    });

    it('is void as a whole when one value is of a wrong type', async () => {
      await client.appendToStream(stream, many(3));
      await client.appendToStream(`$$${stream}`, json('$metadata', { $maxCount: 1, $tb: 'two' }));
      assert.deepEqual(await revisions(client.readStream(stream)), [0, 1, 2]);
      await client.appendToStream(`$$${stream}`, json('$metadata', { $maxCount: 1, $tb: 0, $maxAge: -1 }));
      assert.deepEqual(await revisions(client.readStream(stream)), [2]);
    });

    it('keeps only its newest event readable', async () => {
      await client.setStreamMetadata(stream, { maxCount: 1 });
      await client.setStreamMetadata(stream, { maxCount: 2 }, { expectedRevision: 0n });
      assert.deepEqual(await revisions(client.readStream(`$$${stream}`)), [1]);
    });
  });
});
