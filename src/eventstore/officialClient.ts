/** The official client, opened for an address. */
import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { EventStoreDBClient } from '@eventstore/db-client';
import rpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { Metadata, status } from '@grpc/grpc-js';
import { type StoreAddress, storeAddress } from './address.ts';

/**
 * A cluster's members are asked a few times and for seconds, not for a minute: whoever calls tries again. A node that is frozen, not
 * gone, is noticed by pings.
 */
const impatient = { maxDiscoverAttempts: 2, gossipTimeout: 2, keepAliveTimeout: 5_000 };

/** Everything is asked of the leader: whoever prefers another node would be sent on with each call. */
const preference = { nodePreference: 'leader' } as const;

/** @throws RangeError for an address that cannot be used: what is wrong with EVENTSTORE_URL, and nothing secret of it */
export function openClient(url: string): EventStoreDBClient {
  const client = clientOf(url);
  const handle = client['handleError'];
  // The client looks for another node after a call has failed. When it finds none, nobody waits to hear that but the next caller.
  client['handleError'] = (...failed) => handle(...failed).catch(() => {});
  return client;
}

/** Has the client go another way, as it does by itself when a call fails: everything that it has open ends. */
export async function dropConnection(client: EventStoreDBClient): Promise<void> {
  const current = client['getGRPCClient'](rpc.StreamsClient, 'dropConnection').catch(() => null);
  // While it looks for a node there is nothing to be dropped.
  const streams = await Promise.race([current, nextTurn(null)]);
  void client.dispose();
  const lost = { code: status.UNAVAILABLE, details: 'given up', metadata: new Metadata() };
  if (streams) await client['handleError'](streams, Object.assign(new Error(lost.details), lost));
}

function clientOf(url: string): EventStoreDBClient {
  const address = named(() => storeAddress(url));
  const { hosts, socket, discover, user, options } = address;
  const settings = { ...impatient, ...options, ...preference };
  const [first] = hosts;
  if (socket !== null || !first) return new EventStoreDBClient({ endpoint: `unix:${socket}` }, { insecure: true });
  const secrets = [named(() => credentials(address)), user ?? undefined] as const;
  if (hosts.length === 1 && !discover) return new EventStoreDBClient({ ...settings, endpoint: first }, ...secrets);
  return new EventStoreDBClient({ ...settings, endpoints: [...hosts] }, ...secrets);
}

function named<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof RangeError ? new RangeError(`EVENTSTORE_URL ${error.message}`) : error;
  }
}

function credentials({ options }: StoreAddress) {
  if (options.tls === false) return { insecure: true };
  const { tlsCAFile, userCertFile, userKeyFile } = options;
  if ((userCertFile === undefined) !== (userKeyFile === undefined))
    throw new RangeError('has one of userCertFile and userKeyFile without the other');
  return {
    insecure: false,
    ...(tlsCAFile && { rootCertificate: fileOf('tlsCaFile', tlsCAFile) }),
    ...(userCertFile && { userCertFile: fileOf('userCertFile', userCertFile) }),
    ...(userKeyFile && { userKeyFile: fileOf('userKeyFile', userKeyFile) }),
  };
}

function fileOf(option: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new RangeError(`has ${option} name ${path}, which cannot be read (${code})`);
  }
}
