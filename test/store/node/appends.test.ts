import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { binaryEvent, type EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import empty from 'google-protobuf/google/protobuf/empty_pb.js';
import timestamp from 'google-protobuf/google/protobuf/timestamp_pb.js';
import { failsWith, json, list, many, newStream, officialClient, oursAlone, rawClient, revisions } from './official.ts';

/** Credentials make the official client use Append in place of BatchAppend. */
const classic = { credentials: { username: 'admin', password: 'changeit' } };

describe("the node's appends", () => {
  let client: EventStoreDBClient;
  before(async () => {
    client = await officialClient();
  });

  for (const [name, options] of [
    ['BatchAppend', {}],
    ['Append', classic],
  ] as const) {
    describe(`by ${name}`, () => {
      it('state the revision and position of the last event', async () => {
        const stream = newStream();
        const first = await client.appendToStream(stream, many(3), { ...options, expectedRevision: 'no_stream' });
        assert.equal(first.success, true);
        assert.equal(first.nextExpectedRevision, 2n);
        const [last] = await list(
          client.readStream(stream, { direction: 'backwards', fromRevision: 'end', maxCount: 1 }),
        );
        assert.deepEqual(last?.event?.position, first.position);
      });

      it('keeps type, content type, data and metadata as they came', async () => {
        const stream = newStream();
        const bytes = Uint8Array.from([0, 255, 128, 10]);
        const written = [
          jsonEvent({ type: 'Told', data: { a: 'ü💶' }, metadata: { b: [1] } }),
          binaryEvent({ type: 'Shown', data: bytes, metadata: bytes }),
          jsonEvent({ type: 'Empty', data: '' }),
        ];
        await client.appendToStream(stream, written, options);
        const read = await list(client.readStream(stream));
        assert.deepEqual(
          read.map(({ event }) => [event?.id, event?.type, event?.isJson, event?.revision]),
          written.map(({ id, type }, i) => [id, type, i !== 1, BigInt(i)]),
        );
        assert.deepEqual(read[0]?.event?.data, { a: 'ü💶' });
        assert.deepEqual(read[0]?.event?.metadata, { b: [1] });
        assert.deepEqual(Uint8Array.from(read[1]?.event?.data as unknown as Uint8Array), bytes);
        assert.deepEqual(Uint8Array.from(read[1]?.event?.metadata as unknown as Uint8Array), bytes);
        assert.ok(Math.abs(Date.now() - Number(read[0]?.event?.created)) < 60_000);
      });

      it('refuses a wrong version and names both', async () => {
        const stream = newStream();
        const wrong = (expectedRevision: bigint | 'no_stream' | 'stream_exists', actual: unknown): Promise<void> =>
          assert.rejects(client.appendToStream(stream, json(), { ...options, expectedRevision }), (error) => {
            const { type, expectedVersion, actualVersion, streamName } = error as unknown as Record<string, unknown>;
            assert.equal(type, 'wrong-expected-version');
            assert.deepEqual([streamName, expectedVersion, actualVersion], [stream, expectedRevision, actual]);
            return true;
          });
        await wrong(0n, 'no_stream');
        await wrong('stream_exists', 'no_stream');
        await client.appendToStream(stream, many(2), options);
        await wrong('no_stream', 1n);
        await wrong(5n, 1n);
      });

      it('recognises a repeated append, also without exact version', async () => {
        const stream = newStream();
        const events = many(3);
        for (const expectedRevision of ['any', 'any', 'no_stream', 'stream_exists'] as const) {
          const { nextExpectedRevision } = await client.appendToStream(stream, events, {
            ...options,
            expectedRevision,
          });
          assert.equal(nextExpectedRevision, 2n);
        }
        await failsWith(client.appendToStream(stream, [events[0]!, json()], { ...options }), 'wrong-expected-version');
        assert.deepEqual(await revisions(client.readStream(stream)), [0, 1, 2]);
      });

      oursAlone('the original may drop a repetition that comes before the first is indexed')(
        'recognises a repetition that is sent before the first is answered',
        async () => {
          const [stream, events] = [newStream(), many(2)];
          const append = () => client.appendToStream(stream, events, { ...options, expectedRevision: 'no_stream' });
          const answers = await Promise.all([append(), append(), append()]);
          assert.deepEqual(answers, [answers[0], answers[0], answers[0]]);
        },
      );

      it('writes the same id again at the exact end, and in another stream', async () => {
        const [stream, event] = [newStream(), json()];
        await client.appendToStream(stream, event, { ...options, expectedRevision: 'no_stream' });
        await client.appendToStream(stream, event, { ...options, expectedRevision: 0n });
        await client.appendToStream(`${stream}-b`, [event, event], { ...options, expectedRevision: 'any' });
        assert.equal((await list(client.readStream(stream))).length, 2);
        assert.equal((await list(client.readStream(`${stream}-b`))).length, 2);
      });

      it('takes exactly one mebibyte of data and not a byte more', async () => {
        const of = (size: number) =>
          binaryEvent({ type: 'Large', data: new Uint8Array(size), metadata: { not: 'counted' } });
        const [stream, limit] = [newStream(), 1_048_576];
        await client.appendToStream(stream, of(limit), options);
        await failsWith(client.appendToStream(stream, of(limit + 1), options), 'maximum-append-size-exceeded');
        await failsWith(client.appendToStream(stream, [of(limit), of(1)], options), 'maximum-append-size-exceeded');
        assert.equal((await list(client.readStream(stream))).length, 1);
      });

      it('answers an append of nothing without writing', async () => {
        const stream = newStream();
        await client.appendToStream(stream, many(2), options);
        const { nextExpectedRevision } = await client.appendToStream(stream, [], { ...options, expectedRevision: 1n });
        assert.equal(nextExpectedRevision, 1n);
        await failsWith(
          client.appendToStream(stream, [], { ...options, expectedRevision: 0n }),
          'wrong-expected-version',
        );
      });
    });
  }

  it('writes an append in several chunks as one', async () => {
    const stream = newStream();
    await client.appendToStream(stream, many(200), { batchAppendSize: 500 });
    assert.equal((await list(client.readStream(stream))).length, 200);
  });

  it("names Append's required metadata properties when one is missing", async () => {
    const raw = await rawClient();
    const error = await new Promise<{ code?: number; metadata?: { getMap(): object } } | null>((resolve) => {
      const call = raw.append((failure) => resolve(failure as never));
      const options = new messages.AppendReq.Options()
        .setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from(newStream()).toString('base64')))
        .setAny(new shared.Empty());
      call.write(new messages.AppendReq().setOptions(options));
      const event = new messages.AppendReq.ProposedMessage().setId(new shared.UUID().setString(randomUUID()));
      event.getMetadataMap().set('type', 'Happened');
      call.write(new messages.AppendReq().setProposedMessage(event));
      call.end();
    });
    assert.equal(error?.code, 3);
    const trailers = (error?.metadata?.getMap() ?? {}) as Record<string, unknown>;
    assert.equal(trailers['exception'], 'missing-required-metadata-property');
    assert.equal(trailers['required-metadata-properties'], 'type,content-type');
  });

  describe('over one BatchAppend call', () => {
    const identifier = (stream: string) =>
      new shared.StreamIdentifier().setStreamName(Buffer.from(stream).toString('base64'));
    const proposed = (type: string | null) => {
      const message = new messages.BatchAppendReq.ProposedMessage().setId(new shared.UUID().setString(randomUUID()));
      if (type !== null) message.getMetadataMap().set('type', type).set('content-type', 'application/json');
      return message;
    };
    interface Chunk {
      readonly id: string;
      readonly stream?: string;
      readonly type?: string | null;
      readonly final?: boolean;
      readonly deadline?: Date;
    }
    function chunk({ id, stream, type = 'Happened', final = true, deadline }: Chunk): messages.BatchAppendReq {
      const request = new messages.BatchAppendReq()
        .setCorrelationId(new shared.UUID().setString(id))
        .setProposedMessagesList([proposed(type)])
        .setIsFinal(final);
      if (stream === undefined) return request;
      const options = new messages.BatchAppendReq.Options().setStreamIdentifier(identifier(stream));
      options.setAny(new empty.Empty());
      if (deadline) options.setDeadline(timestamp.Timestamp.fromDate(deadline));
      return request.setOptions(options);
    }
    /** Sends chunks, half-closes, and returns all replies once the node has ended the call. */
    async function talk(...chunks: Chunk[]): Promise<{ id: string; result: string }[]> {
      const call = (await rawClient()).batchAppend();
      for (const each of chunks) call.write(chunk(each));
      call.end();
      const replies = await list(call as AsyncIterable<messages.BatchAppendResp>);
      return replies.map((reply) => ({
        id: reply.getCorrelationId()?.getString() ?? '',
        result: reply.getError()?.getMessage() ?? `revision ${reply.getSuccess()?.getCurrentRevision()}`,
      }));
    }

    oursAlone('the original ends a half-closed call after the first answer')(
      'tells chunks of several appends apart and answers each exactly once',
      async () => {
        const [a, b] = [randomUUID(), randomUUID()];
        const stream = newStream();
        const replies = await talk(
          { id: a, stream, final: false },
          { id: b, stream: `${stream}-b`, final: false },
          { id: a, final: false },
          { id: b },
          { id: a },
          { id: a },
        );
        assert.deepEqual(
          replies.toSorted((x, y) => (x.id === a ? -1 : 1) - (y.id === a ? -1 : 1)),
          [
            { id: a, result: 'revision 2' },
            { id: b, result: 'revision 1' },
          ],
        );
      },
    );

    it('ignores a chunk of an unknown append', async () => {
      const [lost, good] = [randomUUID(), randomUUID()];
      assert.deepEqual(await talk({ id: lost }, { id: good, stream: newStream() }), [
        { id: good, result: 'revision 0' },
      ]);
    });

    oursAlone('the original ends the call with UNKNOWN')(
      'answers a bad event with BadRequest and writes nothing of that append',
      async () => {
        const [id, stream] = [randomUUID(), newStream()];
        const replies = await talk({ id, stream, final: false }, { id, type: null }, { id });
        assert.deepEqual(replies, [{ id, result: 'BadRequest' }]);
        await failsWith(list(client.readStream(stream)), 'stream-not-found');
      },
    );

    oursAlone('the original never ends a call that is half-closed after an error')(
      'answers a deadline that has passed with Timeout',
      async () => {
        const id = randomUUID();
        const replies = await talk({ id, stream: newStream(), deadline: new Date(Date.now() - 1_000) });
        assert.deepEqual(replies, [{ id, result: 'Timeout' }]);
      },
    );

    oursAlone('the original spells the id of a timeout in two halves')(
      'does not answer a refused append again when its time is up',
      async () => {
        const [bad, late] = [randomUUID(), randomUUID()];
        const soon = { stream: newStream(), final: false, deadline: new Date(Date.now() + 100) };
        const refused = chunk({ id: bad, ...soon });
        refused.getOptions()?.setStreamPosition('9223372036854775999');
        const call = (await rawClient()).batchAppend();
        const replies: string[] = [];
        const timedOut = new Promise<void>((resolve) => {
          call.on('data', (reply: messages.BatchAppendResp) => {
            const id = reply.getCorrelationId()?.getString();
            replies.push(`${id} ${reply.getError()?.getMessage()}`);
            if (id === late) resolve();
          });
        });
        call.write(refused);
        call.write(chunk({ id: late, ...soon, deadline: new Date(Date.now() + 200) }));
        await timedOut;
        call.cancel();
        call.on('error', () => {});
        assert.deepEqual(replies, [`${bad} BadRequest`, `${late} Timeout`]);
      },
    );

    oursAlone('the original never ends a call that is half-closed after an error')(
      'gives up an append whose last chunk does not come',
      async () => {
        const [id, stream] = [randomUUID(), newStream()];
        const call = (await rawClient()).batchAppend();
        call.write(chunk({ id, stream, final: false, deadline: new Date(Date.now() + 50) }));
        const reply = await new Promise<messages.BatchAppendResp>((resolve) => call.once('data', resolve));
        assert.equal(reply.getError()?.getMessage(), 'Timeout');
        assert.equal(reply.getError()?.getDetails()?.getTypeName(), 'event_store.client.Timeout');
        call.write(chunk({ id }));
        call.end();
        assert.deepEqual(await list(call as AsyncIterable<unknown>), []);
        await failsWith(list(client.readStream(stream)), 'stream-not-found');
      },
    );
  });
});
