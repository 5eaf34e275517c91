import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import { Metadata, type ServerDuplexStream, type ServerWritableStream, status } from '@grpc/grpc-js';
import { type EventBatchRead, Unavailable } from '../../commands/ports.ts';
import { type EventStoreOptions, type OpenEventStore, openEventStore, patientLimits } from '../../src/store/client.ts';
import { Unusable } from '../../src/store/failures.ts';
import { kurrentLimits, kurrentStoreOver, loadKurrentClient } from '../../src/store/kurrentStore.ts';
import { batchAppendService } from '../../src/store/node/appends.ts';
import { bareRecord, encodeRecord } from '../../src/store/node/log.ts';
import { startNode } from '../../src/store/node/node.ts';
import { readService } from '../../src/store/node/reads.ts';
import { bytesOf, caughtUp, checkpointAt, confirmation } from '../../src/store/node/replies.ts';
import { openStorage } from '../../src/store/node/storage.ts';
import { createBell, createWriter } from '../../src/store/node/writer.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { testCertificate } from '../support/tlsServer.ts';
import { event, events } from './events.ts';
import { fakeServer, type Misbehaviour } from './fakeServer.ts';

type BatchCall = ServerDuplexStream<messages.BatchAppendReq, Buffer>;
type ReadCall = ServerWritableStream<messages.ReadReq, Buffer>;

/** An event that was written before. */
const recordAt = (position: number): Buffer =>
  bareRecord(
    encodeRecord({
      stream: 'old-1',
      revision: position,
      position,
      id: '00000000-0000-4000-8000-000000000001',
      type: 'Happened',
      json: true,
      created_ms: 0,
      data: Buffer.from('{}'),
      metadata: Buffer.from('{}'),
    }),
  );

/**
 * @param forms of URLs with which a client names an untrusted certificate
 * @param patient limits of a client that waits for a store whose restart takes long, as on a busy machine
 */
function outages(
  openStore: typeof openEventStore,
  forms: readonly string[],
  patient: Omit<EventStoreOptions, 'url'>,
): void {
  const stops: (() => unknown)[] = [];
  afterEach(async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
  });

  function open(options: EventStoreOptions): OpenEventStore {
    const store = openStore(options);
    stops.push(() => store.close());
    return store;
  }
  async function serve(calls: Misbehaviour): Promise<string> {
    const { url, stop } = await fakeServer(calls);
    stops.push(stop);
    return url;
  }
  /** The node's own BatchAppend over real storage; `spoil` changes each call. */
  async function spoiled(spoil: (call: BatchCall) => void) {
    const storage = await openStorage(join(temporaryDirectory(), 'events'));
    stops.push(() => storage.close());
    const grown = createBell();
    const append = batchAppendService(createWriter(storage, grown));
    const url = await serve({
      read: readService(storage, grown),
      batchAppend: (call: BatchCall) => {
        spoil(call);
        append(call);
      },
    });
    const records = (): number => storage.scan(0, false, 100, 1_000_000).found.length;
    return { url, records };
  }

  it('resends an append whose answer never arrived, and it is there once', async () => {
    let answers = 0;
    const { url, records } = await spoiled((call) => {
      const write = call.write.bind(call) as (reply: unknown) => boolean;
      call.write = ((reply: unknown) => (answers++ < 2 ? true : write(reply))) as typeof call.write;
    });
    const store = open({ url, attempt_ms: 50 });
    const appended = await store.append('lost-1', 'no_stream', events(3));
    assert.equal(appended.revision, 2n);
    assert.ok(answers >= 3);
    assert.equal(records(), 3);
  });

  it('resends an append whose connection broke after it was written, and it is there once', async () => {
    let broken = false;
    const { url, records } = await spoiled((call) => {
      const write = call.write.bind(call) as (reply: unknown) => boolean;
      call.write = ((reply: unknown) => {
        if (broken) return write(reply);
        broken = true;
        call.emit('error', Object.assign(new Error('cut off'), { code: 14, details: 'cut off' }));
        return true;
      }) as typeof call.write;
    });
    const appended = await open({ url }).append('cut-1', 'no_stream', events(2));
    assert.equal(appended.revision, 1n);
    assert.equal(broken, true);
    assert.equal(records(), 2);
  });

  it('reports that the outcome is unknown when no answer arrives in time', async () => {
    const seen: string[] = [];
    const url = await serve({
      batchAppend: (call: BatchCall) => {
        call.on('data', (request) => seen.push(request.proposed[0]?.id ?? ''));
      },
    });
    const only = event();
    await assert.rejects(
      open({ url, attempt_ms: 20, append_ms: 4_000 }).append('silent-1', 'no_stream', [only]),
      (error) => {
        assert.equal((error as Error).name, 'Unavailable');
        assert.match(
          (error as Error).message,
          /whether 1 event\(s\) were appended to silent-1 is unknown; read the stream/,
        );
        return true;
      },
    );
    assert.ok(seen.length > 1);
    assert.deepEqual(new Set(seen), new Set([only.id]));
  });

  it('keeps a queue for workers when requests fill theirs', async () => {
    const url = await serve({ batchAppend: () => {} });
    const few = { inFlight: 1, queued: 1, wait_ms: 60_000, away_ms: 100 };
    const store = open({ url, attempt_ms: 50, append_ms: 100, requests: few, workers: few });
    const request = () => store.append('busy-1', 'no_stream', [event()]);
    const unknown = /is unknown/;
    const accepted = [assert.rejects(request(), unknown), assert.rejects(request(), unknown)];
    await assert.rejects(request(), /too many request appends wait/);
    await assert.rejects(store.workers.append('busy-1', 'no_stream', [event()]), unknown);
    await Promise.all(accepted);
  });

  it('refuses callers at once while the store is down, and continues when it is back', async () => {
    const dataDir = temporaryDirectory();
    const first = await startNode({ dataDir, port: 0 });
    const store = open({ url: first.url });
    await store.append('down-1', 'no_stream', [event()]);
    await first.close();

    await assert.rejects(store.read('down-1'), { name: 'Unavailable' });
    await assert.rejects(store.append('down-1', 0n, [event()]), /cannot be reached; nothing was sent/);
    await assert.rejects(store.workers.append('down-1', 0n, [event()]), /nothing was sent/);

    const second = await startNode({ dataDir, port: first.port ?? 0 });
    stops.push(() => second.close());
    let revision: bigint | null = null;
    while (revision === null) {
      await nextTurn();
      revision = await store.append('down-1', 0n, [event()]).then(
        (appended) => appended.revision,
        () => null,
      );
    }
    assert.equal(revision, 1n);
    assert.equal((await store.read('down-1')).length, 2);
  });

  it('carries appends in flight over a restart of the store', async () => {
    const dataDir = temporaryDirectory();
    const first = await startNode({ dataDir, port: 0 });
    const store = open({ url: first.url, ...patient });
    await store.tail();
    const flying = Array.from({ length: 50 }, (_, n) => store.append(`flying-${n}`, 'no_stream', events(2)));
    await first.close();
    const second = await startNode({ dataDir, port: first.port ?? 0 });
    stops.push(() => second.close());
    for (const { revision } of await Promise.all(flying)) assert.equal(revision, 1n);
  });

  it('notifies a subscriber that the connection is lost', async () => {
    const node = await startNode({ dataDir: temporaryDirectory(), port: 0 });
    const store = open({ url: node.url });
    const following = (async () => {
      for await (const { live } of store.all({ after: null, prefixes: ['x'], signal: new AbortController().signal })) {
        if (live) await node.close();
      }
    })();
    await assert.rejects(following, { name: 'Unavailable' });
  });

  it('notifies a subscriber that its position is none of this store', async () => {
    const node = await startNode({ dataDir: temporaryDirectory(), port: 0 });
    stops.push(() => node.close());
    const store = open({ url: node.url });
    const { position } = await store.append('here-1', 'no_stream', events(3));
    const elsewhere = { after: position - 1n, prefixes: ['here'], signal: new AbortController().signal };
    await assert.rejects(store.all(elsewhere)[Symbol.asyncIterator]().next(), { name: 'ForeignPosition' });
  });

  it('follows from behind the last event, where records of the store’s own are after a restart', async () => {
    const url = await serve({
      read: (call: ReadCall) => {
        const answers = call.request.getOptions()?.hasSubscription() ? [confirmation('1'), caughtUp()] : [recordAt(7)];
        for (const answer of answers) call.write(answer);
        if (!call.request.getOptions()?.hasSubscription()) call.end();
      },
    });
    const behind = { after: 9n, prefixes: ['old'], signal: new AbortController().signal };
    const { value } = await open({ url }).all(behind)[Symbol.asyncIterator]().next();
    assert.deepEqual(value, { events: [], position: 9n, live: false });
  });

  describe('names EVENTSTORE_URL, and no secret of it,', () => {
    const denied = Object.assign(new Error('Access Denied'), {
      code: status.PERMISSION_DENIED,
      details: 'Access Denied',
      metadata: Metadata.fromHttp2Headers({ exception: 'access-denied' }),
    });
    const withUser = (url: string) => url.replace('//', '//ops:open-sesame@');
    async function refusal(url: string): Promise<string> {
      const error = await open({ url: withUser(url) })
        .tail()
        .catch((reason) => reason);
      assert.ok(error instanceof Unusable);
      assert.ok(!error.message.includes('sesame'));
      return error.message;
    }

    it('when the user or password is refused', async () => {
      const unknown = Object.assign(new Error('Unauthenticated'), { ...denied, code: status.UNAUTHENTICATED });
      const url = await serve({ read: (call: ReadCall) => call.emit('error', unknown) });
      assert.match(await refusal(url), /^EVENTSTORE_URL cannot be used: the store refuses its user or password$/);
    });

    it('when the user lacks a right', async () => {
      const url = await serve({ read: (call: ReadCall) => call.emit('error', denied) });
      assert.match(
        await refusal(url),
        /^EVENTSTORE_URL cannot be used: its user lacks a right in the store; run npm run doctor/,
      );
      await assert.rejects(open({ url: withUser(url) }).read('a-1'), { name: 'Unavailable' });
    });

    for (const form of forms)
      it(`when the certificate is not trusted: ${form}`, async () => {
        const { url, stop } = await fakeServer({}, await testCertificate());
        stops.push(stop);
        const named = url.replace('127.0.0.1', 'localhost').replace('esdb', form);
        assert.match(await refusal(named), /certificate is not believed \(.*\): see tlsCaFile/);
      });

    it('and not when its tlsCaFile has the issuer of the certificate', async () => {
      const certificate = await testCertificate();
      const caFile = join(temporaryDirectory(), 'ca.crt');
      writeFileSync(caFile, certificate.cert);
      const read = (call: ReadCall) => {
        call.write(recordAt(7));
        call.end();
      };
      const { url, stop } = await fakeServer({ read }, certificate);
      stops.push(stop);
      const named = withUser(url.replace('127.0.0.1', 'localhost'));
      assert.equal(await open({ url: `${named}?tlsCaFile=${caFile}` }).tail(), 7n);
    });

    it('when the store speaks no TLS', async () => {
      const url = await serve({});
      assert.match(
        await refusal(url.replace('?tls=false', '').replace('127.0.0.1', 'localhost')),
        /answers without TLS/,
      );
    });
  });

  it('ends a running read when it is closed, and reports no stream as missing', async () => {
    const begun = Promise.withResolvers<void>();
    const store = openStore({ url: await serve({ read: () => begun.resolve() }) });
    const reading = store.read('a-1');
    const outcome = assert.rejects(reading, Unavailable);
    await begun.promise;
    await store.close();
    await outcome;
  });

  it('leaves no append hanging when it is closed', async () => {
    const url = await serve({ batchAppend: () => {} });
    const store = open({ url });
    const hanging = assert.rejects(store.append('closed-1', 'no_stream', [event()]), /is unknown/);
    await nextTurn();
    await store.close();
    await hanging;
  });

  describe('follows servers of other versions:', () => {
    const saying =
      (...replies: Buffer[]) =>
      (call: ReadCall): void => {
        for (const reply of replies) call.write(reply);
      };
    /** @param tail called when the end of the log, which is 9, is requested, before the answer */
    const either =
      ({ subscription, tail }: { subscription: (call: ReadCall) => void; tail: () => void }) =>
      (call: ReadCall): void => {
        if (call.request.getOptions()?.hasSubscription()) subscription(call);
        else {
          tail();
          call.write(recordAt(9));
          call.end();
        }
      };
    async function untilLive(url: string): Promise<EventBatchRead[]> {
      const leave = new AbortController();
      const batches: EventBatchRead[] = [];
      for await (const batch of open({ url }).all({ after: null, prefixes: ['old'], signal: leave.signal })) {
        batches.push(batch);
        if (batch.live) leave.abort();
      }
      return batches;
    }

    it('one that never sends caughtUp is treated as silent because there is nothing more', async () => {
      const subscription = saying(confirmation('1'), recordAt(7), recordAt(9));
      const batches = await untilLive(await serve({ read: either({ subscription, tail: () => {} }) }));
      assert.equal(batches.at(-1)?.position, 9n);
    });

    it('one that is silent because it is busy is waited for', async () => {
      let more = (): void => {};
      const subscription = (call: ReadCall): void => {
        saying(confirmation('1'), recordAt(7))(call);
        more = () => saying(recordAt(9), caughtUp())(call);
      };
      const batches = await untilLive(await serve({ read: either({ subscription, tail: () => more() }) }));
      assert.equal(batches.at(-1)?.position, 9n);
    });

    it('one that sends the largest number for a position it does not know', async () => {
      const unknown = new messages.ReadResp().setCheckpoint(
        new messages.ReadResp.Checkpoint()
          .setCommitPosition('18446744073709551615')
          .setPreparePosition('18446744073709551615'),
      );
      const subscription = saying(confirmation('1'), recordAt(7), checkpointAt(8), bytesOf(unknown), caughtUp());
      const batches = await untilLive(await serve({ read: either({ subscription, tail: () => {} }) }));
      assert.equal(batches.at(-1)?.position, 8n);
    });
  });
}

const library = await loadKurrentClient();

describe('the event store client in an outage', () =>
  outages(openEventStore, ['esdb', 'esdb+discover'], patientLimits));
// With seeds of a cluster, the package hides the reason.
describe('the client over the KurrentDB package in an outage', () =>
  outages((options) => kurrentStoreOver(library, options), ['esdb'], {
    ...patientLimits,
    requests: { ...patientLimits.requests, inFlight: kurrentLimits.requests.inFlight },
  }));
