/** Connection to the event store: always to its leader, dropped when it is lost or silent, with a known availability. */

import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { EventStoreDBClient } from '@eventstore/db-client';
import { convertToCommandError } from '@eventstore/db-client/dist/utils/index.js';
import gossipRpc from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import {
  Channel,
  type ChannelCredentials,
  type ClientOptions,
  connectivityState,
  type Client as GrpcClient,
  credentials as grpcCredentials,
  Metadata,
} from '@grpc/grpc-js';
import { Unavailable } from '../../commands/ports.ts';
import type { StoredEvent } from '../../domain/decider.ts';
import { withoutSecrets } from '../environment/reader.ts';
import { type StoreAddress, storeAddress } from './address.ts';
import type { OpenCalls, ReadQuery, StoreCalls } from './calls.ts';
import { isConnectionLoss, isDamaged, leaderOf, NoLeader, Silent, storeReasonOf, unusable } from './failures.ts';
import { createHearing, type Hearing } from './read.ts';

export interface WaysOptions {
  /** `host:port` or `unix:/path`; several, or with `discover`: nodes that are queried for the leader. */
  readonly targets: readonly string[];
  readonly discover: boolean;
  readonly credentials: ChannelCredentials;
  readonly pingEvery_ms: number;
  readonly pingTimeout_ms: number;
  readonly gossip_ms: number;
}

type ClientOf<C> = new (address: string, credentials: ChannelCredentials, options: ClientOptions) => C;

export interface Ways {
  /** A client of the leading node, as far as is known. @throws NoLeader */
  clientOf<C extends GrpcClient>(Kind: ClientOf<C>): Promise<C>;
  /** Reports a call's failure: a lost client is not reused, and a new leader's address is followed. */
  failed(client: GrpcClient, error: unknown): void;
  /** Closes the current connection, if there is one, with all its calls. */
  drop(): void;
  close(): void;
}

interface Way {
  readonly target: string;
  readonly channel: Channel;
  readonly clients: Map<unknown, GrpcClient>;
}

/** The official client's limit: more than the largest event. */
const receivedMost_bytes = 17 * 1024 * 1024;
/** Short, so a restarted node is found soon. */
const reconnect_ms = { first: 100, most: 500 };

/**
 * Opens connections to the store's leader, instead of the official client: one connection per node, kept while it reconnects. The official
 * client opens a connection for each failed call, and each stays open: 26 after one outage.
 */
export function createWays(options: WaysOptions): Ways {
  const { targets, discover, credentials } = options;
  const channels = new Map<string, Channel>();
  let current: Promise<Way> | null = null;
  let taken: Way | null = null;
  let told: string | null = null;

  const clientOver = <C>(Kind: ClientOf<C>, channel: Channel): C =>
    new Kind('', credentials, { channelOverride: channel });

  const channelTo = (target: string): Channel => {
    const channel = channels.get(target) ?? new Channel(target, credentials, channelOptions(options));
    channels.set(target, channel);
    return channel;
  };

  /** Keeps a connection that waits to reconnect: closed, it would reconnect anyway (grpc-js 1.14.7). */
  function release(target: string): void {
    const channel = channels.get(target);
    const state = channel?.getConnectivityState(false);
    if (state !== connectivityState.READY && state !== connectivityState.IDLE) return;
    channels.delete(target);
    channel?.close();
  }

  function leave(): void {
    current = null;
    taken = null;
  }

  async function find(): Promise<Way> {
    const [only = ''] = targets;
    const target = told ?? (discover || targets.length > 1 ? await leader() : only);
    told = null;
    return { target, channel: channelTo(target), clients: new Map() };
  }

  async function leader(): Promise<string> {
    const asked = targets.map((target) => leaderAt(channelTo(target), target));
    try {
      const found = await Promise.any(asked);
      void Promise.allSettled(asked).then(() =>
        targets.filter((target) => ![found, taken?.target].includes(target)).forEach(release),
      );
      return found;
    } catch (error) {
      throw new NoLeader((error as AggregateError).errors.map(storeReasonOf).join('; '));
    }
  }

  function leaderAt(channel: Channel, target: string): Promise<string> {
    const deadline = Date.now() + options.gossip_ms;
    return new Promise((resolve, reject) => {
      clientOver(gossipRpc.GossipClient, channel).read(
        new shared.Empty(),
        new Metadata(),
        { deadline },
        (error, info) => {
          const found = info?.getMembersList().find(leads)?.getHttpEndPoint();
          if (found) resolve(`${found.getAddress()}:${found.getPort()}`);
          else reject(new Error(`${target}: ${error ? storeReasonOf(error) : 'knows of no leader'}`));
        },
      );
    });
  }

  return {
    async clientOf<C extends GrpcClient>(Kind: ClientOf<C>) {
      current ??= find();
      const finding = current;
      const way = await finding.catch((error: unknown) => {
        if (current === finding) leave();
        throw error;
      });
      if (current === finding) taken = way;
      const { channel, clients } = way;
      const client = clients.get(Kind) ?? clientOver(Kind, channel);
      clients.set(Kind, client);
      return client as C;
    },
    failed(client, error) {
      if (!isConnectionLoss(error) || client.getChannel() !== taken?.channel) return;
      const { target } = taken;
      leave();
      told = leaderOf(error);
      release(target);
    },
    drop() {
      if (!taken) return;
      const { target, channel } = taken;
      leave();
      channels.delete(target);
      channel.close();
    },
    close() {
      leave();
      for (const channel of channels.values()) channel.close();
      channels.clear();
    },
  };
}

const leads = (member: gossip.MemberInfo): boolean =>
  member.getIsAlive() && member.getState() === gossip.MemberInfo.VNodeState.LEADER;

const channelOptions = ({ pingEvery_ms, pingTimeout_ms }: WaysOptions) => ({
  'grpc.keepalive_time_ms': pingEvery_ms,
  'grpc.keepalive_timeout_ms': pingTimeout_ms,
  'grpc.initial_reconnect_backoff_ms': reconnect_ms.first,
  'grpc.max_reconnect_backoff_ms': reconnect_ms.most,
  'grpc.max_receive_message_length': receivedMost_bytes,
});

export interface OpenClient {
  readonly client: EventStoreDBClient;
  /** Ends every call, and the current connection: the next call searches the leader again. */
  drop(): void;
  close(): Promise<void>;
}

/** Pings detect a frozen node, and a query for the leader has a timeout. The URL's own settings take precedence. */
const defaults = { keepAliveInterval: 5_000, keepAliveTimeout: 3_000, gossipTimeout: 2 };

/** @throws RangeError for an unusable address: the problem with EVENTSTORE_URL, without secrets */
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

/** Opens connections to the nodes of EVENTSTORE_URL, without the official client. @throws RangeError as `openClient` */
export const openWays = (url: string): Ways => named(() => waysOf(storeAddress(url)));

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

/** -1 disables pings. */
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

const probePause_ms = 200;

/**
 * Availability of the store. While it is unavailable, callers are refused at once instead of waiting for a timeout, and one probe detects
 * its return.
 */
export interface Reachability {
  readonly up: boolean;
  /** Reports that a call lost its connection. */
  lost(): void;
  /** Resolves true as soon as the store is available, false after `within_ms`. */
  whenUp(within_ms: number): Promise<boolean>;
  close(): void;
}

/** @param probe any harmless call to the store; it must settle within a bounded time */
export function createReachability(probe: () => Promise<unknown>): Reachability {
  const closing = new AbortController();
  let down: Promise<void> | null = null;

  async function probing(): Promise<void> {
    for (;;) {
      await sleep(probePause_ms, undefined, { signal: closing.signal, ref: false });
      try {
        await probe();
        down = null;
        return;
      } catch {
        // Still unavailable; the next probe follows.
      }
    }
  }

  return {
    get up() {
      return down === null;
    },
    lost() {
      if (down !== null || closing.signal.aborted) return;
      down = probing();
      down.catch(() => {});
    },
    async whenUp(within_ms) {
      if (closing.signal.aborted) return false;
      if (down === null) return true;
      const timer = new AbortController();
      const late = sleep(within_ms, undefined, { signal: timer.signal }).catch(() => {});
      await Promise.race([down.catch(() => {}), late]);
      timer.abort();
      return down === null && !closing.signal.aborted;
    },
    close() {
      closing.abort();
    },
  };
}

/** The calls of a client library and the state of its connection. */
export interface StoreConnection extends Hearing, Pick<StoreCalls, 'append' | 'subscribe'> {
  readonly reach: Reachability;
  /** For messages: without the user and password of the connection string. */
  readonly server: string;
  /** Aborts when calls use another connection from now on: older subscriptions must be reopened. */
  readonly left: AbortSignal;
  /** Reports a failure that lost the connection, or found another leader: the client then reconnects. */
  moved(): void;
  /** @throws Unavailable if the store is known to be unavailable: nothing has been sent */
  mustBeUp(): void;
  /**
   * Reads the wanted events; none for a missing stream.
   * @param limit_ms default: the timeout of this connection. @throws Unavailable if the store cannot be reached, or after the timeout
   */
  read(wanted: ReadQuery, limit_ms?: number): Promise<readonly StoredEvent[]>;
  close(): Promise<void>;
}

export interface Patience {
  readonly read_ms: number;
  /** Maximum wait of calls while nothing at all arrives from the server. */
  readonly silence_ms: number;
}

/** The first calls after a broken connection, or to a node that has just lost leadership, may fail once more. */
const triesMost = 3;

export function connectStore(open: OpenCalls, url: string, { read_ms, silence_ms }: Patience): StoreConnection {
  const server = withoutSecrets(url);
  const hearing = createHearing(silence_ms, () => {
    moved();
    calls.drop();
  });
  const calls = open(hearing.heard);
  let left = new AbortController();

  function moved(): void {
    left.abort();
    left = new AbortController();
  }

  async function ask(wanted: ReadQuery, limit_ms = read_ms): Promise<readonly StoredEvent[]> {
    const { events, cancel } = calls.read(wanted);
    try {
      return await hearing.answered(events, limit_ms, `reading ${wanted.stream ?? 'the log'}`);
    } catch (error) {
      if (error instanceof Unavailable) cancel();
      throw error;
    }
  }

  /** Any answer will do, including a refusal. */
  const probe = () =>
    ask(lastOfAll).catch((error) => {
      if (isConnectionLoss(error) || error instanceof Unavailable) throw error;
    });
  const reach = createReachability(probe);

  function mustBeUp(): void {
    if (!reach.up) throw new Unavailable(`the event store at ${server} cannot be reached; nothing was sent`);
  }

  async function read(wanted: ReadQuery, limit_ms?: number): Promise<readonly StoredEvent[]> {
    for (let tries = 1; ; tries += 1) {
      mustBeUp();
      try {
        return await ask(wanted, limit_ms);
      } catch (error) {
        if (isDamaged(error)) throw new Unavailable(storeReasonOf(error), 1, { cause: error });
        const refused = unusable(error);
        if (!isConnectionLoss(error)) throw refused ?? error;
        moved();
        // After one silent wait it does not wait again.
        if (tries < triesMost && !(error instanceof Silent)) continue;
        reach.lost();
        throw (
          refused ??
          new Unavailable(`the event store at ${server} cannot be reached: ${storeReasonOf(error)}`, 1, {
            cause: error,
          })
        );
      }
    }
  }

  return {
    append: calls.append,
    subscribe: calls.subscribe,
    reach,
    server,
    get left() {
      return left.signal;
    },
    ...hearing,
    moved,
    mustBeUp,
    read,
    async close() {
      reach.close();
      await calls.close();
    },
  };
}

/** The log's last event, if there is one, from its leader. */
export const lastOfAll: ReadQuery = { stream: null, backwards: true, max: 1 };
