import { chainOf } from '../domain/chains.ts';
import type { Config } from './config.ts';
import { withoutSecrets } from './environment/reader.ts';

/** Startup message of an instance: public names and addresses only, without users, passwords, keys and providers' nodes. */
export interface Serves {
  /** Listening address. */
  readonly url: string;
  /** Address of health, readiness and metrics. */
  readonly operationsUrl: string;
  readonly mode: Config['mode'];
  readonly roles: Config['roles'];
  readonly chains: readonly string[];
  /** Address of the account that pays out, by family. */
  readonly treasuries: Readonly<Record<string, string>>;
  /** Host, port and name of each store. */
  readonly database: string;
  readonly eventStore: string;
}

const embeddedStore = 'embedded, for trials and small installations';

/** @param listening URLs of the server and of the event store in use, configured or embedded */
export function serves(
  { mode, roles, chains, treasuries, databaseUrl, eventStoreUrl }: Config,
  listening: { readonly url: string; readonly operationsUrl: string; readonly eventStoreUrl: string },
): Serves {
  const held = Object.entries(treasuries).flatMap(([family, treasury]) =>
    treasury ? [[family, treasury.address] as const] : [],
  );
  return {
    url: listening.url,
    operationsUrl: listening.operationsUrl,
    mode,
    roles,
    chains: chains.map(({ chainId }) => `${chainOf(chainId).name} (${chainId})`),
    treasuries: Object.fromEntries(held),
    database: withoutSecrets(databaseUrl),
    eventStore: eventStoreUrl === null ? embeddedStore : withoutSecrets(listening.eventStoreUrl),
  };
}
