/** The port of the event store, against one node of the real EventStoreDB. */
import assert from 'node:assert/strict';
import { type OpenEventStore, openEventStore } from '../../src/store/client.ts';
import { kurrentLimits, openKurrentStore } from '../../src/store/kurrentStore.ts';
import { readServerVersion } from '../../tools/doctor/stores.ts';
import { eventStoreContract } from '../store/contract.ts';
import { idleRestartContract } from '../store/idleRestart.ts';
import { describeOnRealStore, type RealEventStore, startRealEventStore } from '../support/realEventStore.ts';
import { storeMetrics } from '../support/storeMetrics.ts';
import { isFull } from '../support/suite.ts';

/** Restarts in a row of an idle node. */
const restarts = isFull ? 2 : 1;

describeOnRealStore('the event store client', () => {
  let server: RealEventStore;
  let store: OpenEventStore;
  before(async () => {
    server = await startRealEventStore();
    store = openEventStore({ url: server.url });
  });
  after(async () => {
    await store?.close();
    await server?.stop();
  });

  const restartedAfter = (end: 'stop' | 'kill') => async () => ({
    url: server.url,
    async restart() {
      await server[end]();
      await server.start();
    },
  });

  it('names its version, and has the metrics and labels that dashboards show', async () => {
    assert.equal(await readServerVersion(server.url), '24.6.0');
    const { host } = new URL(server.url.replace(/^esdb:/, 'http:'));
    const answer = await (await fetch(`http://${host}/metrics`)).text();
    for (const [name, labels] of Object.entries(storeMetrics)) {
      const [series = ''] = new RegExp(`^${name}\\{.*$`, 'm').exec(answer) ?? assert.fail(`no metric ${name}`);
      for (const label of labels) assert.ok(series.includes(`${label}="`), `${name} has no label ${label}`);
    }
  });

  describe('for requests', () => {
    eventStoreContract(async () => store);
  });

  describe('for workers', () => {
    eventStoreContract(async () => store.workers);
  });

  describe('over the KurrentDB package', () => {
    let other: OpenEventStore;
    before(async () => {
      const requests = { ...kurrentLimits.requests, wait_ms: 60_000 };
      other = await openKurrentStore({ url: server.url, requests });
    });
    after(() => other?.close());

    eventStoreContract(async () => other);

    describe('when the node is killed and started again', () => {
      idleRestartContract(restartedAfter('kill'), 1, openKurrentStore);
    });
  });

  describe('when the node ends cleanly and is started again', () => {
    idleRestartContract(restartedAfter('stop'), restarts);
  });

  describe('when the node is killed and started again', () => {
    idleRestartContract(restartedAfter('kill'), restarts);
  });
});
