import { sharedEventStore } from '../support/eventstore.ts';
import { eventStoreContract } from './contract.ts';

describe('the event store client', () => {
  eventStoreContract(async () => (await sharedEventStore()).store);
});

describe("the event store client's queue for workers", () => {
  eventStoreContract(async () => (await sharedEventStore()).store.workers);
});
