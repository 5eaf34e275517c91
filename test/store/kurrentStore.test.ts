/** The client over `@kurrent/kurrentdb-client`, against embedded nodes that listen on a port. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type messages from '@eventstore/db-client/generated/streams_pb.js';
import { type ServerWritableStream, status } from '@grpc/grpc-js';
import type { AllStreamSubscription } from '@kurrent/kurrentdb-client';
import type { OpenEventStore } from '../../src/store/client.ts';
import { openStore } from '../../src/store/index.ts';
import {
  inOrder,
  kurrentLimits,
  kurrentUrl,
  loadKurrentClient,
  openKurrentStore,
} from '../../src/store/kurrentStore.ts';
import { type EventStoreNode, startNode } from '../../src/store/node/node.ts';
import { readService } from '../../src/store/node/reads.ts';
import { openStorage } from '../../src/store/node/storage.ts';
import { createBell } from '../../src/store/node/writer.ts';
import { startCluster } from '../support/cluster.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { testCertificate } from '../support/tlsServer.ts';
import { eventStoreContract } from './contract.ts';
import { event, events } from './events.ts';
import { fakeServer } from './fakeServer.ts';
import { idleRestartContract } from './idleRestart.ts';

const poll_ms = 20;

describe('the client over the KurrentDB package', () => {
  const stops: (() => unknown)[] = [];
  after(async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
  });
  async function open(url: string): Promise<OpenEventStore> {
    const store = await openKurrentStore({ url });
    stops.push(() => store.close());
    return store;
  }

  describe('with one node', () => {
    eventStoreContract(async () => {
      const node = await startNode({ dataDir: temporaryDirectory(), port: 0 });
      stops.push(() => node.close());
      // Appends wait for each other, on a slow machine for longer than in production.
      const requests = { ...kurrentLimits.requests, wait_ms: 60_000 };
      const store = await openKurrentStore({ url: node.url, requests });
      stops.push(() => store.close());
      return store;
    });
  });

  describe('with a node that is restarted while it is idle', () => {
    idleRestartContract(
      async () => {
        const dataDir = temporaryDirectory();
        let node: EventStoreNode = await startNode({ dataDir, port: 0 });
        stops.push(() => node.close());
        const port = node.port ?? 0;
        return {
          url: node.url,
          async restart() {
            await node.close();
            node = await startNode({ dataDir, port });
          },
        };
      },
      1,
      openKurrentStore,
    );
  });

  it('appends to and reads from the leader of a cluster, also the next one', async () => {
    const { nodes, url, lead } = await startCluster();
    const [first, second] = nodes;
    const store = await open(url);
    const written = await store.append('led-1', 'no_stream', events(2));
    await second.copy(first);
    lead(second);
    const next = event();
    const append = () => store.append('led-1', written.revision, [next]).catch(() => null);
    let appended = await append();
    while (appended === null) {
      await sleep(poll_ms);
      appended = await append();
    }
    assert.equal(appended.revision, 2n);
    const readLength = async () => (await store.read('led-1').catch(() => [])).length;
    while ((await readLength()) !== 3) await sleep(poll_ms);
    const direct = await open(second.url);
    assert.equal((await direct.read('led-1')).length, 3);
  });

  it('survives a connection that breaks while many appends wait to be written', async () => {
    const begun = Promise.withResolvers<void>();
    const { url, stop } = await fakeServer({ batchAppend: () => begun.resolve() });
    stops.push(stop);
    const store = await open(url);
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', note);
    stops.push(() => process.off('unhandledRejection', note));
    const large = { text: 'x'.repeat(60_000) };
    const appends = Array.from({ length: 100 }, (_, n) =>
      assert.rejects(store.append(`many-${n}`, 'no_stream', [event('Happened', large)]), { name: 'Unavailable' }),
    );
    await begun.promise;
    await sleep(poll_ms);
    stop();
    await Promise.all(appends);
    assert.deepEqual(unhandled, []);
  });

  it('reports a damaged stream, and continues with others', async () => {
    const storage = await openStorage(join(temporaryDirectory(), 'events'));
    stops.push(() => storage.close());
    const whole = readService(storage, createBell());
    const read = (call: ServerWritableStream<messages.ReadReq, Buffer>): void => {
      if (!call.request.getOptions()?.hasStream()) whole(call);
      else call.emit('error', Object.assign(new Error('damaged'), { code: status.DATA_LOSS, details: 'damaged' }));
    };
    const { url, stop } = await fakeServer({ read });
    stops.push(stop);
    const store = await open(url);
    await assert.rejects(store.read('broken-1'), /answers, but not a read of broken-1: its data may be damaged/);
    assert.equal(await store.tail(), 0n);
  });

  it('names no secret when no node of a cluster is believed', async () => {
    const { url, stop } = await fakeServer({}, await testCertificate());
    stops.push(stop);
    const store = await open(url.replace('esdb://127.0.0.1', 'esdb+discover://ops:open-sesame@localhost'));
    await assert.rejects(store.tail(), (error: Error) => {
      assert.equal(error.name, 'Unavailable');
      assert.match(error.message, /cannot be reached: no node of the event store names a leader/);
      assert.ok(!error.message.includes('sesame'));
      return true;
    });
  });

  describe('delivers announcements of a subscription after the events before them', () => {
    const recorded = (revision: bigint) => ({
      event: {
        streamId: 'a-1',
        revision,
        id: `${revision}`,
        type: 'T',
        data: {},
        metadata: {},
        position: { commit: revision },
      },
    });
    function start(accepts: () => boolean) {
      const subscription = new PassThrough({ objectMode: true }) as unknown as AllStreamSubscription & PassThrough;
      const order: string[] = [];
      const announce = inOrder(subscription, {
        said(news) {
          order.push(
            'stream' in news ? `event ${news.revision}` : `checkpoint ${news.checkpoint} ${news.caughtUp === true}`,
          );
          return accepts();
        },
        failed: assert.fail,
      });
      return { subscription, order, announce };
    }

    it('while the consumer has stopped the flow', () => {
      let accepts = false;
      const { subscription, order, announce } = start(() => accepts);
      subscription.resume();
      for (const revision of [1n, 2n, 3n]) subscription.write(recorded(revision));
      while (subscription.read() !== null);
      assert.ok(order.length <= 3);
      subscription.write(recorded(4n));
      subscription.pause();
      subscription.write(recorded(5n));
      announce({ checkpoint: 6n });
      announce({ checkpoint: 7n, caughtUp: true });
      accepts = true;
      while (subscription.read() !== null);
      assert.deepEqual(order, ['event 1', 'event 2', 'event 3', 'event 4', 'event 5', 'checkpoint 7 true']);
    });

    it('and at once when no event waits', () => {
      const { order, announce } = start(() => true);
      announce({ checkpoint: 6n });
      announce({ caughtUp: true });
      assert.deepEqual(order, ['checkpoint 6 false', 'checkpoint undefined true']);
    });
  });

  describe('reads EVENTSTORE_URL', () => {
    const defaults = 'keepAliveInterval=10000&keepAliveTimeout=3000&discoveryInterval=50';
    for (const [url, expected] of [
      ['esdb://127.0.0.1:2113?tls=false', `kurrentdb://127.0.0.1:2113?${defaults}&tls=false`],
      [
        'esdb+discover://ops:a/b@c@a:1,b:2?tlsCaFile=/etc/a%20b.crt&nodePreference=follower&gossipTimeout=3&keep_alive_interval=20000',
        'kurrentdb+discover://ops:a%2Fb%40c@a:1,b:2?keepAliveInterval=20000&keepAliveTimeout=3000&discoveryInterval=50&tlsCAFile=/etc/a%20b.crt',
      ],
      ['kurrentdb://a', `kurrentdb://a:2113?${defaults}`],
    ] as const)
      it(url, () => assert.equal(kurrentUrl(url), expected));

    for (const [url, problem] of [
      ['esdb+unix:///data/eventstore/socket', /reaches no embedded event store: name a server in EVENTSTORE_URL/],
      ['esdb://[::1]:2113?tls=false', /takes no IPv6 address in EVENTSTORE_URL: use a host name/],
      ['esdb://', /^RangeError: EVENTSTORE_URL is no URL like/],
    ] as const)
      it(`and refuses ${url}`, () => assert.throws(() => kurrentUrl(url), problem));
  });

  it('is refused at start without the package, with the remedy', async () => {
    await assert.rejects(loadKurrentClient('@kurrent/absent'), {
      name: 'NoClient',
      message: /^EVENTSTORE_CLIENT=kurrentdb needs the package @kurrent\/absent \(.*\): install it with npm install/,
    });
  });

  it('is refused at start with the embedded event store', async () => {
    const telemetry = { logger: { warn() {} } } as never;
    await assert.rejects(openStore('esdb+unix:///data/eventstore/socket', 'kurrentdb', telemetry), {
      name: 'ConfigError',
      message: /reaches no embedded event store/,
    });
  });
});
