/** Replaces src/store/index.ts: the store that the URL names, and the signer's own one, which is simulated too. */
import type * as real from '../../../src/store/index.ts';
import { openEventStore, signerStoreUrl } from './eventStoreClient.ts';

export const openStore: typeof real.openStore = async (url) => openEventStore({ url });

export const embeddedStore: typeof real.embeddedStore = async () => ({
  url: signerStoreUrl,
  pid: 0,
  stop: async () => {},
  canWrite: () => true,
});
