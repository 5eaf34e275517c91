/**
 * The way to a store's leader, in place of the official client's own: one connection a node, kept while it tries to connect again.
 * (The client opens a new one for each call that fails; each of them connects once the node is back, and stays: 26 after an outage.)
 */
import gossipRpc from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import {
  Channel,
  type ChannelCredentials,
  type ClientOptions,
  connectivityState,
  type Client as GrpcClient,
  Metadata,
} from '@grpc/grpc-js';
import { isConnectionLoss, leaderOf, NoLeader, reasonOf } from './failures.ts';

export interface WaysOptions {
  /** `host:port` or `unix:/path`; several, or with `discover`: nodes that are asked who leads. */
  readonly targets: readonly string[];
  readonly discover: boolean;
  readonly credentials: ChannelCredentials;
  readonly pingEvery_ms: number;
  readonly pingTimeout_ms: number;
  readonly gossip_ms: number;
}

type ClientOf<C> = new (address: string, credentials: ChannelCredentials, options: ClientOptions) => C;

export interface Ways {
  /** A client of the node that leads, as far as is known. @throws NoLeader */
  clientOf<C extends GrpcClient>(Kind: ClientOf<C>): Promise<C>;
  /** Tell how a call of a client ended: a lost one is not taken again, and where the leader is, is gone to. */
  failed(client: GrpcClient, error: unknown): void;
  /** Closes the connection in use, if there is one, with all that runs over it. */
  drop(): void;
  close(): void;
}

interface Way {
  readonly target: string;
  readonly channel: Channel;
  readonly clients: Map<unknown, GrpcClient>;
}

/** The official client's: the largest event and more. */
const receivedMost_bytes = 17 * 1024 * 1024;
/** A node that is back is found soon. */
const reconnect_ms = { first: 100, most: 500 };

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

  /** One that waits to connect again is kept: closed, it would connect all the same (grpc-js 1.14.7). */
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
      throw new NoLeader((error as AggregateError).errors.map(reasonOf).join('; '));
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
          else reject(new Error(`${target}: ${error ? reasonOf(error) : 'knows of no leader'}`));
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
