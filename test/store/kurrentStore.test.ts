/** The client over `@kurrent/kurrentdb-client`, against embedded nodes that listen on a port. */
import { type EventStoreNode, startNode } from '../../src/store/node/node.ts';
import { openKurrentStore } from '../../src/store/kurrentStore.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import type { OpenEventStore } from '../../src/store/client.ts';
import { eventStoreContract } from './contract.ts';

describe('the client over the KurrentDB package', () => {
  let node: EventStoreNode;
  let store: OpenEventStore;
  before(async () => {
    node = await startNode({ dataDir: temporaryDirectory(), port: 0 });
    store = await openKurrentStore({ url: node.url });
  });
  after(async () => {
    await store?.close();
    await node?.close();
  });
  describe('for requests', () => {
    eventStoreContract(async () => store);
  });
});
