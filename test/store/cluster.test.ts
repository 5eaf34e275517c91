import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { BACKWARDS, END, EventStoreDBClient } from '@eventstore/db-client';
import type { EventBatchRead } from '../../commands/ports.ts';
import { type EventStoreOptions, type OpenEventStore, openEventStore } from '../../src/store/client.ts';
import { type Cluster, startCluster } from '../support/cluster.ts';
import { whenAvailable } from '../support/whenAvailable.ts';
import { event, events } from './events.ts';

describe('the event store client at a cluster', () => {
  let cluster: Cluster;
  const stores: OpenEventStore[] = [];
  const open = (options: EventStoreOptions): OpenEventStore => {
    const store = openEventStore(options);
    stores.push(store);
    return store;
  };
  beforeEach(async () => {
    cluster = await startCluster();
  });
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close();
    cluster.all('leader');
    for (const node of cluster.nodes) await node.stop();
  });

  /** Collects everything from the start to the log's end, then the subscription. */
  async function followed(store: OpenEventStore) {
    const batches = store
      .all({ after: null, prefixes: ['x-'], signal: new AbortController().signal })
      [Symbol.asyncIterator]();
    const told: EventBatchRead[] = [];
    do {
      const { value } = await batches.next();
      told.push(value);
    } while (!told.at(-1)?.live);
    return { batches, streams: told.flatMap(({ events: held }) => held.map(({ stream }) => stream)) };
  }

  it('asks any of the seeds for the leader', async () => {
    const [a, b, c] = cluster.nodes;
    await a.stop();
    cluster.lead(c);
    await b.stop();
    const { revision } = await open({ url: cluster.url }).append('x-1', 'no_stream', events(2));
    assert.equal(revision, 1n);
  });

  it('calls the leader alone, whatever node its URL names: to append, to read, for the end and to follow', async () => {
    const [a, b] = cluster.nodes;
    const { position } = await open({ url: a.url }).append('x-1', 'no_stream', [event()]);
    assert.equal((await open({ url: b.url }).append('x-2', 'no_stream', [event()])).revision, 0n);
    assert.equal((await open({ url: b.url }).read('x-1')).length, 1);
    assert.ok((await open({ url: b.url }).tail()) > position);
    const store = open({ url: b.url });
    assert.deepEqual((await whenAvailable(() => followed(store))).streams, ['x-1', 'x-2']);
  });

  it('does not trust a follower, whose log may end earlier', async () => {
    const [a, b] = cluster.nodes;
    const store = open({ url: a.url });
    await store.append('x-1', 'no_stream', [event()]);
    await b.copy(a);
    const { position } = await whenAvailable(() => store.append('x-2', 'no_stream', [event()]));
    const plain = EventStoreDBClient.connectionString(b.url);
    let last = 0n;
    for await (const { event: read } of plain.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 }))
      last = read?.position.commit ?? 0n;
    assert.ok(last < position);
    assert.equal(await open({ url: b.url }).tail(), position);
  });

  it('uses the new leader when the old one is deposed, and continues its subscriptions there', async () => {
    const [a, b] = cluster.nodes;
    const store = open({ url: cluster.url });
    await store.append('x-1', 'no_stream', [event()]);
    await b.copy(a);
    const { batches } = await whenAvailable(() => followed(store));
    cluster.lead(b);
    assert.equal((await store.append('x-1', 0n, [event()])).revision, 1n);
    await assert.rejects(batches.next(), { name: 'Unavailable' });
    assert.equal((await open({ url: b.url }).read('x-1')).length, 2);
    assert.deepEqual((await whenAvailable(() => followed(store))).streams, ['x-1', 'x-1']);
  });

  it('does not find an event at a new leader that the old one had alone: it was truncated', async () => {
    const [a, b] = cluster.nodes;
    const store = open({ url: cluster.url });
    await store.append('x-1', 'no_stream', [event()]);
    await b.copy(a);
    const { position } = await whenAvailable(() => store.append('x-1', 0n, [event()]));
    assert.equal((await store.eventAt(position))?.position, position);
    cluster.lead(b);
    assert.equal(await whenAvailable(() => store.eventAt(position)), null);
  });

  it('reports at once that nothing was appended while nobody leads, and continues with a leader', async () => {
    const store = open({ url: cluster.url, append_ms: 600_000, attempt_ms: 600_000 });
    await store.append('x-1', 'no_stream', [event()]);
    for (const standing of ['electing', 'leaderless'] as const) {
      cluster.all(standing);
      await assert.rejects(store.append('x-2', 'no_stream', [event()]), {
        name: 'Unavailable',
        message: /nothing was (sent|appended)/,
      });
      await assert.rejects(store.tail(), { name: 'Unavailable' });
      await assert.rejects(store.read('x-1'), { name: 'Unavailable' });
      cluster.lead(cluster.nodes[0]);
      await whenAvailable(() => store.append(`x-${standing}`, 'no_stream', [event()]));
    }
  });

  it('leaves a leader that is frozen: nothing hangs on its connection', async () => {
    const [a, b] = cluster.nodes;
    const store = open({
      url: cluster.url,
      silence_ms: 200,
      append_ms: 600_000,
      attempt_ms: 600_000,
      read_ms: 600_000,
    });
    await store.append('x-1', 'no_stream', [event()]);
    await b.copy(a);
    const { batches } = await whenAvailable(() => followed(store));
    a.seat.take('frozen');
    const appending = store.append('x-1', 0n, [event()]);
    const reading = whenAvailable(() => store.read('x-1'));
    b.seat.take('leader');
    cluster.nodes[2].seat.take({ follows: b });
    assert.equal((await appending.catch(() => whenAvailable(() => store.append('x-1', 0n, [event()])))).revision, 1n);
    assert.ok((await reading).length > 0);
    await assert.rejects(batches.next(), { name: 'Unavailable' });
  });

  it('treats a cluster that nobody can find as a store that is away, for as long as that lasts', async () => {
    const store = open({ url: cluster.url });
    await store.append('x-1', 'no_stream', [event()]);
    const { batches } = await followed(store);
    for (const node of cluster.nodes) await node.stop();
    await assert.rejects(batches.next(), { name: 'Unavailable' });
    await assert.rejects(store.read('x-1'), { name: 'Unavailable' });
    await assert.rejects(open({ url: cluster.url }).read('x-1'), {
      name: 'Unavailable',
      message: /names a leader/,
    });
    await assert.rejects(open({ url: cluster.url }).append('x-2', 'no_stream', [event()]), {
      name: 'Unavailable',
      message: /nothing was appended/,
    });
    for (const node of cluster.nodes) await node.start();
    assert.equal((await whenAvailable(() => store.append('x-1', 0n, [event()]))).revision, 1n);
  });

  for (const many of [true, false])
    it(`has no more than one connection a node after outages: ${many ? 'of a cluster' : 'of one node'}`, async () => {
      const store = open({ url: many ? cluster.url : cluster.nodes[0].url });
      await store.append('x-1', 'no_stream', [event()]);
      for (let outage = 0; outage < 2; outage += 1) {
        for (const node of cluster.nodes) await node.stop();
        for (let tries = 0; tries < 100; tries += 1) {
          await Promise.all([1, 2, 3].map(() => assert.rejects(store.read('x-1'), { name: 'Unavailable' })));
          await sleep(5);
        }
        for (const node of cluster.nodes) await node.start();
        await whenAvailable(() => store.read('x-1'));
      }
      // By now a connection that was left behind has connected again.
      await sleep(800);
      await whenAvailable(() => store.read('x-1'));
      while (cluster.connections() > cluster.nodes.length) await sleep(5);
      assert.ok(cluster.connections() > 0);
    });
});
