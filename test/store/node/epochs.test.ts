import assert from 'node:assert/strict';
import { END, EventStoreDBClient, type Position, START, streamNameFilter } from '@eventstore/db-client';
import { startNode } from '../../../src/store/node/node.ts';
import type { Trouble } from '../../../src/store/node/trouble.ts';
import { temporaryDirectory } from '../../support/temporaryDirectory.ts';
import { json, list, many } from './official.ts';

const epochs = '$epoch-information';

describe("the node's epochs", () => {
  let dataDir: string;
  beforeEach(() => {
    dataDir = temporaryDirectory();
  });

  /** One run of a node on the data directory. */
  async function live<T>(use: (client: EventStoreDBClient) => Promise<T>): Promise<T> {
    const node = await startNode({ dataDir, port: 0 });
    const client = EventStoreDBClient.connectionString(node.url);
    try {
      return await use(client);
    } finally {
      await client.dispose();
      await node.close();
    }
  }

  const placesOf = async (reading: AsyncIterable<{ event?: { streamId: string; position?: Position } }>) =>
    (await list(reading)).map(({ event }) => `${event?.streamId} ${event?.position?.commit}`);
  const append = async (client: EventStoreDBClient, count = 1): Promise<Position> =>
    (await client.appendToStream('seen-1', many(count))).position as Position;
  const lastEpoch = async (client: EventStoreDBClient): Promise<Position> => {
    const [last] = await list(client.readStream(epochs, { direction: 'backwards', fromRevision: END, maxCount: 1 }));
    return last?.event?.position as Position;
  };

  /** Messages of a filtered subscription until it has caught up, and the number of further events to wait for. */
  async function follow(
    client: EventStoreDBClient,
    fromPosition: Position | typeof START,
    live_: () => Promise<unknown>,
  ) {
    const checkpoints: bigint[] = [];
    const events: bigint[] = [];
    const filter = streamNameFilter({
      prefixes: ['seen-'],
      checkpointReached: async (_, { commit }) => void checkpoints.push(commit),
    });
    const subscription = client.subscribeToAll({ fromPosition, filter });
    const first = Promise.withResolvers<void>();
    let done: Promise<unknown> | undefined;
    subscription.on('caughtUp', () => {
      done = live_();
    });
    subscription.on('data', ({ event }) => {
      events.push(event?.position?.commit ?? 0n);
      if (event?.type === 'Last') first.resolve();
    });
    await first.promise;
    // The event may arrive before the answer: a client that is disposed before the answer throws.
    await done;
    await subscription.unsubscribe();
    return { events, checkpoints };
  }
  const appendLast = (client: EventStoreDBClient) => () => client.appendToStream('seen-1', json('Last'));

  it('are one event a start, also on a fresh node, which only a read of their stream returns', async () => {
    await live(async (client) => {
      assert.equal((await list(client.readStream(epochs))).length, 1);
      assert.deepEqual(await placesOf(client.readAll()), []);
      assert.deepEqual(await placesOf(client.readAll({ direction: 'backwards', fromPosition: END, maxCount: 1 })), []);
    });
    await live(async (client) => {
      const both = await list(client.readStream(epochs));
      assert.deepEqual(
        both.map(({ event }) => [event?.type, event?.revision]),
        [
          [epochs, 0n],
          [epochs, 1n],
        ],
      );
      assert.deepEqual(await placesOf(client.readAll()), []);
    });
  });

  it('are skipped by reads of the log in both directions, whatever their limit', async () => {
    const positions: Position[] = [];
    for (let start = 0; start < 4; start++) positions.push(await live((client) => append(client)));
    const places = positions.map(({ commit }) => `seen-1 ${commit}`);
    await live(async (client) => {
      for (const maxCount of [1, 2, 3, 4, 100]) {
        assert.deepEqual(await placesOf(client.readAll({ maxCount })), places.slice(0, maxCount));
        assert.deepEqual(
          await placesOf(client.readAll({ direction: 'backwards', fromPosition: END, maxCount })),
          places.toReversed().slice(0, maxCount),
        );
      }
    });
  });

  it('have positions that a reader or a follower may begin at', async () => {
    const before = await live((client) => append(client));
    await live(async (client) => {
      const epoch = await lastEpoch(client);
      const [next] = [await append(client)];
      assert.ok(before.commit < epoch.commit && epoch.commit < next.commit);
      assert.deepEqual(await placesOf(client.readAll({ fromPosition: epoch })), [`seen-1 ${next.commit}`]);
      assert.deepEqual(await placesOf(client.readAll({ direction: 'backwards', fromPosition: epoch })), [
        `seen-1 ${before.commit}`,
      ]);
      const { events } = await follow(client, epoch, appendLast(client));
      assert.equal(events[0], next.commit);
      assert.equal(events.length, 2);
    });
  });

  it('bring the checkpoint of a follower that has caught up behind the last event', async () => {
    const last = await live((client) => append(client));
    await live(async (client) => {
      const epoch = await lastEpoch(client);
      const { events, checkpoints } = await follow(client, START, appendLast(client));
      assert.deepEqual([events[0], checkpoints[0]], [last.commit, epoch.commit]);
      assert.ok(epoch.commit > last.commit);
      assert.equal(events.length, 2);
    });
  });

  it('are sent to nobody who follows the whole log without a filter', async () => {
    for (let start = 0; start < 2; start++) await live((client) => append(client));
    await live(async (client) => {
      const seen: string[] = [];
      let appended: Promise<unknown> | undefined;
      const onCaughtUp = () => {
        appended = appendLast(client)();
      };
      for await (const { event } of client.subscribeToAll().on('caughtUp', onCaughtUp)) {
        seen.push(event?.streamId ?? '');
        if (event?.type === 'Last') break;
      }
      // The event may arrive before the answer: a client that is disposed before the answer throws.
      await appended;
      assert.deepEqual(seen, ['seen-1', 'seen-1', 'seen-1']);
    });
  });

  it('are omitted by a start on a full disk: the node reads, and reports that it cannot write', async () => {
    await live((client) => append(client));
    const troubles: Trouble[] = [];
    const node = await startNode({ dataDir, port: 0, freeBytes: () => 0, tell: (trouble) => troubles.push(trouble) });
    const client = EventStoreDBClient.connectionString(node.url);
    try {
      assert.equal((await list(client.readStream('seen-1'))).length, 1);
      assert.equal((await list(client.readStream(epochs))).length, 1);
      assert.deepEqual(
        troubles.map(({ kind }) => kind),
        ['cannotWrite'],
      );
    } finally {
      await client.dispose();
      await node.close();
    }
  });
});
