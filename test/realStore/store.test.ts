/** The port of the event store, against one node of the real EventStoreDB. */
import { type OpenEventStore, openEventStore } from '../../src/store/client.ts';
import { eventStoreContract } from '../store/contract.ts';
import { idleRestartContract } from '../store/idleRestart.ts';
import { describeOnRealStore, type RealEventStore, startRealEventStore } from '../support/realEventStore.ts';

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

  describe('for requests', () => {
    eventStoreContract(async () => store);
  });

  describe('for workers', () => {
    eventStoreContract(async () => store.workers);
  });

  describe('when the node ends cleanly and is started again', () => {
    idleRestartContract(async () => ({
      url: server.url,
      async restart() {
        await server.stop();
        await server.start();
      },
    }));
  });

  describe('when the node is killed and started again', () => {
    idleRestartContract(async () => ({
      url: server.url,
      async restart() {
        await server.kill();
        await server.start();
      },
    }));
  });
});
