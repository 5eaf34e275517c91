import { instancesShareTheWork } from '../e2e/instances.ts';
import { describeWorldOnRealStore } from '../support/realEventStore.ts';

describeWorldOnRealStore('two instances on the same stores', (eventStoreUrl) => {
  instancesShareTheWork({ eventStoreUrl });
});
