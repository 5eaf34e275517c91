import assert from 'node:assert/strict';
import { type EventStoreDBClient, jsonEvent, type Position } from '@eventstore/db-client';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import type streams from '@eventstore/db-client/generated/streams_grpc_pb.js';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import { failsWith, json, list, many, newStream, officialClient, rawClient, revisions } from './official.ts';

const { Options } = messages.ReadReq;
const none = (): shared.Empty => new shared.Empty();

describe("the node's reads", () => {
  let client: EventStoreDBClient;
  let stream: string;
  before(async () => {
    client = await officialClient();
  });
  beforeEach(() => {
    stream = newStream();
  });

  describe('from a stream', () => {
    const read = (options: Parameters<EventStoreDBClient['readStream']>[1]): Promise<number[]> =>
      revisions(client.readStream(stream, options));

    it('goes forwards from a revision on, inclusive', async () => {
      await client.appendToStream(stream, many(5));
      assert.deepEqual(await read({}), [0, 1, 2, 3, 4]);
      assert.deepEqual(await read({ fromRevision: 2n, maxCount: 2 }), [2, 3]);
      assert.deepEqual(await read({ fromRevision: 4n }), [4]);
      assert.deepEqual(await read({ fromRevision: 5n }), []);
      assert.deepEqual(await read({ fromRevision: 2n ** 62n }), []);
    });

    it('goes backwards from a revision on, inclusive', async () => {
      await client.appendToStream(stream, many(5));
      assert.deepEqual(await read({ direction: 'backwards', fromRevision: 'end' }), [4, 3, 2, 1, 0]);
      assert.deepEqual(await read({ direction: 'backwards', fromRevision: 2n }), [2, 1, 0]);
      assert.deepEqual(await read({ direction: 'backwards', fromRevision: 'start' }), [0]);
      assert.deepEqual(await read({ direction: 'backwards', fromRevision: 99n, maxCount: 2 }), [4, 3]);
    });

    it('reads more than one page in either direction', async () => {
      const all = [...Array(1_000).keys()];
      await client.appendToStream(stream, many(1_000));
      assert.deepEqual(await read({}), all);
      assert.deepEqual(await read({ maxCount: 999 }), all.slice(0, -1));
      assert.deepEqual(await read({ direction: 'backwards', fromRevision: 'end' }), all.toReversed());
    });

    it('report that a stream is missing', async () => {
      await failsWith(list(client.readStream(stream)), 'stream-not-found');
      await failsWith(
        list(client.readStream(stream, { direction: 'backwards', fromRevision: 'end' })),
        'stream-not-found',
      );
      await client.setStreamMetadata(stream, { maxCount: 1 });
      await failsWith(list(client.readStream(stream)), 'stream-not-found');
    });

    it('refuse the same requests as the real server', async () => {
      await client.appendToStream(stream, many(2));
      await failsWith(list(client.readStream(stream, { fromRevision: 'end' })), 'unknown');
      await failsWith(list(client.readStream(stream, { maxCount: 0 })), 'unknown');
      await failsWith(list(client.readStream('')), 'unknown');
    });
  });

  describe('from the log', () => {
    let positions: Position[];
    beforeEach(async () => {
      await client.appendToStream(stream, many(4));
      positions = (await list(client.readStream(stream))).map(({ event }) => event?.position as Position);
    });
    const read = (options: Parameters<EventStoreDBClient['readAll']>[0]): Promise<number[]> =>
      revisions(client.readAll(options));

    it('goes forwards from a position on, inclusive', async () => {
      assert.deepEqual(await read({ fromPosition: positions[1]!, maxCount: 2 }), [1, 2]);
      assert.deepEqual(await read({ fromPosition: positions[3]! }), [3]);
      assert.deepEqual(await read({ fromPosition: 'end' }), []);
    });

    it('goes backwards from before a position', async () => {
      assert.deepEqual(await read({ direction: 'backwards', fromPosition: positions[3]!, maxCount: 2 }), [2, 1]);
      assert.deepEqual(await read({ direction: 'backwards', fromPosition: 'end', maxCount: 2 }), [3, 2]);
      assert.deepEqual(await read({ direction: 'backwards', fromPosition: 'start' }), []);
    });

    it('gives every event one position of its own, the same everywhere, strictly increasing', async () => {
      const all = await list(client.readAll({ fromPosition: 'start' }));
      const commits = all.map(({ event }) => event!.position!.commit);
      assert.ok(commits.every((commit, i) => i === 0 || commit > commits[i - 1]!));
      assert.ok(all.every(({ event, commitPosition }) => event?.position?.prepare === commitPosition));
      assert.deepEqual(
        all.slice(-4).map(({ event }) => event?.position),
        positions,
      );
      const back = await list(client.readAll({ direction: 'backwards', fromPosition: 'end' }));
      assert.deepEqual(
        back.map(({ event }) => event?.position?.commit),
        commits.toReversed(),
      );
    });

    it('refuse a position that is none of its own, unless it is past the end', async () => {
      const beside = { commit: positions[1]!.commit + 1n, prepare: positions[1]!.commit + 1n };
      await failsWith(read({ fromPosition: beside }), 'unknown');
      await failsWith(read({ fromPosition: { commit: 1n, prepare: 2n } }), 'unknown');
      assert.deepEqual(await read({ fromPosition: { commit: 2n ** 60n, prepare: 2n ** 60n } }), []);
    });
  });

  describe('through links', () => {
    const link = (to: string) =>
      ({
        ...jsonEvent({ type: '$>', data: {} }),
        contentType: 'application/octet-stream',
        data: Buffer.from(to),
      }) as never;

    it('follow them on request, one level', async () => {
      await client.appendToStream(stream, many(2));
      await client.appendToStream(`${stream}-links`, [link(`1@${stream}`), link(`7@${stream}`), json()]);
      const resolved = await list(client.readStream(`${stream}-links`, { resolveLinkTos: true }));
      assert.deepEqual(
        resolved.map(({ event, link: from }) => [event?.streamId, event?.revision, from?.revision]),
        [
          [stream, 1n, 0n],
          [undefined, undefined, 1n],
          [`${stream}-links`, 2n, undefined],
        ],
      );
      const [asIs] = await list(client.readStream(`${stream}-links`));
      assert.equal(asIs?.event?.type, '$>');
    });
  });

  describe('by the bare protocol', () => {
    let raw: streams.StreamsClient;
    before(async () => {
      raw = await rawClient();
    });
    const options = (): messages.ReadReq.Options =>
      new Options()
        .setUuidOption(new Options.UUIDOption().setString(none()))
        .setNoFilter(none())
        .setCount('10')
        .setAll(new Options.AllOptions().setStart(none()));
    const read = (wanted: messages.ReadReq.Options): Promise<messages.ReadResp[]> =>
      list(raw.read(new messages.ReadReq().setOptions(wanted)) as AsyncIterable<messages.ReadResp>);
    const invalid = (wanted: messages.ReadReq.Options): Promise<void> => assert.rejects(read(wanted), { code: 3 });
    const typeFilter = (expression: messages.ReadReq.Options.FilterOptions.Expression) =>
      new Options.FilterOptions().setEventType(expression).setCount(none());

    it('filters by type and by stream, by expression and by prefix, in both directions', async () => {
      await client.appendToStream(stream, [json('Apple'), json('Banana'), json('Avocado')]);
      const types = async (filter: messages.ReadReq.Options.FilterOptions, backwards = false): Promise<string[]> => {
        const direction = Options.ReadDirection[backwards ? 'BACKWARDS' : 'FORWARDS'];
        const edge = new Options.AllOptions();
        if (backwards) edge.setEnd(none());
        else edge.setStart(none());
        const replies = await read(options().setFilter(filter).setReadDirection(direction).setAll(edge));
        return replies.map((reply) => reply.getEvent()?.getEvent()?.getMetadataMap().get('type') ?? '');
      };
      const expression = () => new Options.FilterOptions.Expression();
      assert.deepEqual(await types(typeFilter(expression().setRegex('^[AB].*(na|do)'))), ['Banana', 'Avocado']);
      assert.deepEqual(await types(typeFilter(expression().setPrefixList(['Ap', 'Av'])), true), ['Avocado', 'Apple']);
      assert.deepEqual(await types(typeFilter(expression())), [], 'no prefix matches nothing');
      const ofStream = new Options.FilterOptions().setCount(none());
      assert.deepEqual(await types(ofStream.setStreamIdentifier(expression().setPrefixList([stream]))), [
        'Apple',
        'Banana',
        'Avocado',
      ]);
    });

    it('refuse combinations that make no sense', async () => {
      const filter = typeFilter(new Options.FilterOptions.Expression().setRegex('x')).setCheckpointintervalmultiplier(
        1,
      );
      const identifier = new shared.StreamIdentifier().setStreamName(Buffer.from(stream).toString('base64'));
      const ofStream = () => new Options.StreamOptions().setStreamIdentifier(identifier).setStart(none());
      await invalid(options().setStream(ofStream()).setFilter(filter));
      await invalid(
        options().setSubscription(new Options.SubscriptionOptions()).setReadDirection(Options.ReadDirection.BACKWARDS),
      );
      const withoutUuid = options();
      withoutUuid.clearUuidOption();
      await invalid(withoutUuid);
      const withoutWindow = new Options.FilterOptions().setEventType(new Options.FilterOptions.Expression());
      await invalid(options().setFilter(withoutWindow));
      const brokenRegex = typeFilter(new Options.FilterOptions.Expression().setRegex('('));
      await assert.rejects(read(options().setFilter(brokenRegex)), { code: 2 });
    });

    it('spell ids in two halves on request', async () => {
      const event = json();
      await client.appendToStream(stream, event);
      const [position] = (await list(client.readStream(stream))).map(({ event: read_ }) =>
        read_!.position!.commit.toString(),
      );
      const at = new Options.Position().setCommitPosition(position!).setPreparePosition(position!);
      const [reply] = await read(
        options()
          .setUuidOption(new Options.UUIDOption().setStructured(none()))
          .setAll(new Options.AllOptions().setPosition(at)),
      );
      const halves = reply?.getEvent()?.getEvent()?.getId()?.getStructured();
      const hex = [halves!.getMostSignificantBits(), halves!.getLeastSignificantBits()]
        .map((half) => BigInt.asUintN(64, BigInt(half)).toString(16).padStart(16, '0'))
        .join('');
      assert.equal(hex, event.id.replaceAll('-', ''));
    });
  });
});
