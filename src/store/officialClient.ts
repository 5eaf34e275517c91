/** The official client, opened for an address: its calls and its reading of answers, over connections of our own. */
import { readFileSync } from 'node:fs';
import { EventStoreDBClient } from '@eventstore/db-client';
import { convertToCommandError } from '@eventstore/db-client/dist/utils/index.js';
import { credentials as grpcCredentials } from '@grpc/grpc-js';
import { type StoreAddress, storeAddress } from './address.ts';
import { createWays, type Ways } from './ways.ts';

export interface OpenClient {
  readonly client: EventStoreDBClient;
  /** Ends every call, and the connection in use: the next call looks for the leader anew. */
  drop(): void;
  close(): Promise<void>;
}

/** A node that stands still is noticed by pings, and one that is asked who leads is not waited for. The URL's own settings win. */
const defaults = { keepAliveInterval: 5_000, keepAliveTimeout: 3_000, gossipTimeout: 2 };

/** @throws RangeError for an address that cannot be used: what is wrong with EVENTSTORE_URL, and nothing secret of it */
export function openClient(url: string): OpenClient {
  const address = named(() => storeAddress(url));
  const { user, options } = address;
  const { defaultDeadline, connectionName } = options;
  const client = new EventStoreDBClient(
    {
      endpoint: 'found by ways',
      ...(defaultDeadline !== undefined && { defaultDeadline }),
      ...(connectionName !== undefined && { connectionName }),
    },
    { insecure: options.tls === false },
    user ?? undefined,
  );
  const ways = named(() => waysOf(address));
  client['getGRPCClient'] = ways.clientOf;
  client['handleError'] = async (of, error) => ways.failed(of, convertToCommandError(error));
  return {
    client,
    drop() {
      void client.dispose();
      ways.drop();
    },
    async close() {
      await client.dispose();
      ways.close();
    },
  };
}

function waysOf(address: StoreAddress): Ways {
  const { hosts, socket, discover, options } = address;
  const { keepAliveInterval, keepAliveTimeout, gossipTimeout } = { ...defaults, ...options };
  return createWays({
    targets: socket === null ? hosts.map(({ address: host, port }) => `${host}:${port}`) : [`unix:${socket}`],
    discover,
    credentials: credentialsOf(address),
    pingEvery_ms: orNever(keepAliveInterval),
    pingTimeout_ms: orNever(keepAliveTimeout),
    gossip_ms: gossipTimeout * 1_000,
  });
}

/** -1 switches pings off. */
const orNever = (ms: number): number => (ms < 0 ? Number.MAX_VALUE : ms);

function credentialsOf({ options }: StoreAddress) {
  if (options.tls === false) return grpcCredentials.createInsecure();
  const { tlsCAFile, userCertFile, userKeyFile } = options;
  if ((userCertFile === undefined) !== (userKeyFile === undefined))
    throw new RangeError('has one of userCertFile and userKeyFile without the other');
  return grpcCredentials.createSsl(
    fileOf('tlsCaFile', tlsCAFile),
    fileOf('userKeyFile', userKeyFile),
    fileOf('userCertFile', userCertFile),
  );
}

function fileOf(option: string, path: string | undefined): Buffer | null {
  if (path === undefined) return null;
  try {
    return readFileSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new RangeError(`has ${option} name ${path}, which cannot be read (${code})`);
  }
}

function named<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof RangeError ? new RangeError(`EVENTSTORE_URL ${error.message}`) : error;
  }
}
