import type { ChainBroken } from '../commands/codec.ts';
import type { EventStore } from '../commands/ports.ts';
import { sealedStore, trustIn } from '../src/store/sealed.ts';
import { printError } from './print.ts';

/** The log as the service believes it; what is not sealed by it is told on the error stream. @throws Unavailable */
export async function believed(store: EventStore, masterKey: Uint8Array): Promise<EventStore> {
  const tell = ({ message }: ChainBroken): void => printError(message);
  const trust = await trustIn(store, { masterKey, tell });
  return sealedStore(store, { tell, trust: () => trust });
}
