import { instancesShareTheWork } from './instances.ts';

describe('two instances on the same stores', () => {
  instancesShareTheWork();
});
