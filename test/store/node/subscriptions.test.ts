import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type EventStoreDBClient, type Position, streamNameFilter } from '@eventstore/db-client';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import type streams from '@eventstore/db-client/generated/streams_grpc_pb.js';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import { json, many, newStream, officialClient, oursAlone, rawClient } from './official.ts';

const { Options } = messages.ReadReq;
const none = (): shared.Empty => new shared.Empty();

interface Conversation {
  /** Messages so far, each as a word: `event 3`, `checkpoint`, `caughtUp`. */
  readonly said: readonly string[];
  readonly checkpoints: readonly bigint[];
  /** Resolves when this many messages have arrived. */
  until(count: number): Promise<readonly string[]>;
  /** Resolves with the status code that ended the call. */
  readonly failed: Promise<number>;
  leave(): void;
}

describe("the node's subscriptions", () => {
  let client: EventStoreDBClient;
  let raw: streams.StreamsClient;
  let stream: string;
  before(async () => {
    client = await officialClient();
    raw = await rawClient();
  });
  beforeEach(() => {
    stream = newStream();
  });

  function subscribe(change: (options: messages.ReadReq.Options) => unknown): Conversation {
    const options = new Options()
      .setUuidOption(new Options.UUIDOption().setString(none()))
      .setSubscription(new Options.SubscriptionOptions())
      .setNoFilter(none());
    change(options);
    const call = raw.read(new messages.ReadReq().setOptions(options));
    const said: string[] = [];
    const checkpoints: bigint[] = [];
    const failed = new Promise<number>((resolve) =>
      call.on('error', (error) => resolve((error as never as { code: number }).code)),
    );
    let arrived = (): void => {};
    call.on('data', (reply: messages.ReadResp) => {
      const checkpoint = reply.getCheckpoint();
      if (checkpoint) checkpoints.push(BigInt(checkpoint.getCommitPosition()));
      const event = reply.getEvent()?.getEvent();
      said.push(
        event
          ? `event ${event.getStreamRevision()}`
          : reply.hasConfirmation()
            ? 'confirmation'
            : reply.hasCaughtUp()
              ? 'caughtUp'
              : reply.hasCheckpoint()
                ? 'checkpoint'
                : 'other',
      );
      arrived();
    });
    return {
      said,
      checkpoints,
      failed,
      async until(count) {
        while (said.length < count) {
          await new Promise<void>((resolve) => {
            arrived = resolve;
          });
        }
        return said;
      },
      leave: () => call.cancel(),
    };
  }
  const identifier = () => new shared.StreamIdentifier().setStreamName(Buffer.from(stream).toString('base64'));
  const toStream = (from: 'start' | 'end' | number) => (options: messages.ReadReq.Options) => {
    const wanted = new Options.StreamOptions().setStreamIdentifier(identifier());
    if (from === 'start') wanted.setStart(none());
    else if (from === 'end') wanted.setEnd(none());
    else wanted.setRevision(from.toString());
    options.setStream(wanted);
  };
  const toAll = (from: 'end' | Position, window?: number) => (options: messages.ReadReq.Options) => {
    const all = new Options.AllOptions();
    if (from === 'end') all.setEnd(none());
    else {
      const commit = from.commit.toString();
      all.setPosition(new Options.Position().setCommitPosition(commit).setPreparePosition(commit));
    }
    options.setAll(all);
    if (window === undefined) return;
    const expression = new Options.FilterOptions.Expression().setPrefixList([stream]);
    options.setFilter(
      new Options.FilterOptions().setStreamIdentifier(expression).setMax(window).setCheckpointintervalmultiplier(1),
    );
  };
  const append = async (count: number, to = stream): Promise<Position> =>
    (await client.appendToStream(to, many(count))).position as Position;

  describe('to a stream', () => {
    it('catch up from the start, then report it, then continue live', async () => {
      await append(2);
      const talk = subscribe(toStream('start'));
      await talk.until(4);
      await append(1);
      assert.deepEqual(await talk.until(5), ['confirmation', 'event 0', 'event 1', 'caughtUp', 'event 2']);
      talk.leave();
    });

    it('begin strictly after a revision, or at the end', async () => {
      await append(3);
      const [later, live] = [subscribe(toStream(1)), subscribe(toStream('end'))];
      assert.deepEqual(await later.until(3), ['confirmation', 'event 2', 'caughtUp']);
      await live.until(2);
      await append(1);
      assert.deepEqual(await live.until(3), ['confirmation', 'caughtUp', 'event 3']);
      later.leave();
      live.leave();
    });

    it('may wait for a stream that does not exist yet', async () => {
      const talk = subscribe(toStream('start'));
      await talk.until(2);
      await append(1);
      assert.deepEqual(await talk.until(3), ['confirmation', 'caughtUp', 'event 0']);
      talk.leave();
    });

    it('catch up with the events that the metadata shows, but receive everything live', async () => {
      await append(5);
      await client.setStreamMetadata(stream, { maxCount: 2 });
      const talk = subscribe(toStream('start'));
      await talk.until(4);
      await append(3);
      const live = ['event 5', 'event 6', 'event 7'];
      assert.deepEqual(await talk.until(7), ['confirmation', 'event 3', 'event 4', 'caughtUp', ...live]);
      talk.leave();
    });

    it('continue after a soft delete with later events', async () => {
      await append(2);
      const talk = subscribe(toStream('start'));
      await talk.until(4);
      await client.deleteStream(stream);
      await append(1);
      assert.deepEqual((await talk.until(5)).slice(3), ['caughtUp', 'event 2']);
      talk.leave();
      const again = subscribe(toStream('start'));
      assert.deepEqual(await again.until(3), ['confirmation', 'event 2', 'caughtUp']);
      again.leave();
    });

    it('end with the tombstone, and cannot begin after it', async () => {
      await append(1);
      const talk = subscribe(toStream('start'));
      await talk.until(3);
      await client.tombstoneStream(stream);
      assert.equal(await talk.failed, 9);
      assert.deepEqual(talk.said.slice(3), ['event 9223372036854775807']);
      const late = subscribe(toStream('start'));
      assert.equal(await late.failed, 9);
      assert.deepEqual(late.said, []);
    });
  });

  describe('to the log', () => {
    oursAlone('the checkpoint of the original may stand before the end of the log')(
      'with a filter: matching events, a checkpoint at the end of the log, caughtUp',
      async () => {
        const before_ = await append(1);
        await append(2, `other-${stream}`);
        await append(2);
        const end = await append(3, `other-${stream}`);
        const talk = subscribe(toAll(before_, 32));
        assert.deepEqual(await talk.until(5), ['confirmation', 'event 1', 'event 2', 'checkpoint', 'caughtUp']);
        assert.equal(talk.checkpoints[0], end.commit);
        talk.leave();
      },
    );

    it('from the end: nothing to catch up, so no checkpoint', async () => {
      const talk = subscribe(toAll('end', 32));
      await talk.until(2);
      await append(1);
      assert.deepEqual(await talk.until(3), ['confirmation', 'caughtUp', 'event 0']);
      talk.leave();
    });

    it('live with a filter: a checkpoint after every interval of events, matching or not', async () => {
      const talk = subscribe(toAll('end', 4));
      await talk.until(2);
      for (const [count, to] of [
        [3, `other-${stream}`],
        [1, stream],
        [6, `other-${stream}`],
      ] as const)
        await append(count, to);
      await append(1);
      assert.deepEqual((await talk.until(6)).slice(2), ['event 0', 'checkpoint', 'checkpoint', 'event 1']);
      talk.leave();
    });

    it('without a filter: no checkpoints at all', async () => {
      const from = await append(100);
      const talk = subscribe(toAll(from));
      await talk.until(2);
      await append(1, `other-${stream}`);
      assert.deepEqual(await talk.until(3), ['confirmation', 'caughtUp', 'event 0']);
      talk.leave();
    });

    oursAlone('the original confirms before it refuses')('refuse a position that is none of the log', async () => {
      const { commit } = await append(2);
      const talk = subscribe(toAll({ commit: commit - 1n, prepare: commit - 1n }));
      assert.equal(await talk.failed, 3);
      assert.deepEqual(talk.said, []);
    });
  });

  describe('from the official client', () => {
    it('lose nothing when the consumer is slow, and catch up again', async () => {
      const from = await append(1);
      const subscription = client.subscribeToAll({
        fromPosition: from,
        filter: streamNameFilter({ prefixes: [stream] }),
      });
      await once(subscription, 'caughtUp');
      const count = 6_000;
      const large = { text: 'x'.repeat(1_000) };
      for (let n = 0; n < count; n += 500) {
        await client.appendToStream(
          stream,
          Array.from({ length: 500 }, () => json('Large', large)),
        );
      }
      let next = 1n;
      for await (const { event } of subscription) {
        assert.equal(event?.revision, next++);
        if (next > count) break;
      }
    });

    it('are ended by unsubscribing without disturbing others', async () => {
      const [one, two] = [client.subscribeToStream(stream), client.subscribeToStream(stream)];
      await Promise.all([once(one, 'caughtUp'), once(two, 'caughtUp')]);
      await one.unsubscribe();
      await append(1);
      const [{ event }] = (await once(two, 'data')) as [{ event: { revision: bigint } }];
      assert.equal(event.revision, 0n);
      await two.unsubscribe();
    });
  });
});
