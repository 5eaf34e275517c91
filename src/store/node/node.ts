/** The embedded node: opens its storage and serves the calls of EventStoreDB over gRPC. */

import { randomUUID } from 'node:crypto';
import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import features from '@eventstore/db-client/generated/serverfeatures_pb.js';
import {
  type handleUnaryCall,
  type Metadata,
  Server,
  ServerCredentials,
  type ServerInterceptor,
  type ServiceError,
} from '@grpc/grpc-js';
import { mustFit, socketIn, socketUrl } from '../wire.ts';
import { appendService, batchAppendService, deleteService, tombstoneService } from './appends.ts';
import { Damaged } from './environment.ts';
import { lockDirectory } from './lock.ts';
import { structuredUuid } from './messages.ts';
import { readService } from './reads.ts';
import { featuresMethods, gossipMethods, streamsService } from './requests.ts';
import { CannotWrite, createRoom } from './room.ts';
import { openStorage } from './storage.ts';
import { type Tell, tellingOnce, troubleOf, writing } from './trouble.ts';
import { createBell, createWriter, writeEpoch } from './writer.ts';

/** Server version whose behaviour this node implements. */
const version = '24.6.0';

const methods: readonly (readonly [service: string, method: string, ...features: string[]])[] = [
  ['event_store.client.streams.streams', 'read', 'position', 'events'],
  ['event_store.client.streams.streams', 'append'],
  ['event_store.client.streams.streams', 'batchappend', 'deadline_duration'],
  ['event_store.client.streams.streams', 'delete'],
  ['event_store.client.streams.streams', 'tombstone'],
  ['event_store.client.gossip.gossip', 'read'],
  ['event_store.client.server_features.serverfeatures', 'getsupportedmethods'],
];

export const featuresService: handleUnaryCall<unknown, features.SupportedMethods> = (_call, callback) => {
  const supported = methods.map(([service, method, ...names]) =>
    new features.SupportedMethod().setServiceName(service).setMethodName(method).setFeaturesList(names),
  );
  callback(null, new features.SupportedMethods().setEventStoreServerVersion(version).setMethodsList(supported));
};

const { VNodeState } = gossip.MemberInfo;
const states = { leader: VNodeState.LEADER, follower: VNodeState.FOLLOWER, unknown: VNodeState.UNKNOWN } as const;

export interface ClusterMember {
  readonly address: string;
  readonly port: number;
  readonly state: keyof typeof states;
  readonly isAlive: boolean;
}

/** Makes a node answer as one of a cluster. The node of a service is alone and has none. */
export interface ClusterPlace {
  /** All members, as this node gossips them. */
  members(): readonly ClusterMember[];
  /** Reason for refusing an append, in EventStoreDB's form. */
  refusal(metadata: Metadata): ServiceError | null;
  /** Around each call. */
  readonly interceptor: ServerInterceptor;
}

/** A single node is a cluster of one, its own leader. */
export function gossipService(members: () => readonly ClusterMember[]): handleUnaryCall<unknown, gossip.ClusterInfo> {
  const instanceId = structuredUuid(randomUUID());
  return (_call, callback) => {
    const told = members().map((member) =>
      new gossip.MemberInfo()
        .setInstanceId(instanceId)
        .setTimeStamp(`${Date.now()}0000`)
        .setState(states[member.state])
        .setIsAlive(member.isAlive)
        .setHttpEndPoint(new gossip.EndPoint().setAddress(member.address).setPort(member.port)),
    );
    callback(null, new gossip.ClusterInfo().setMembersList(told));
  };
}

export interface NodeOptions {
  /** Directory of the node's data; created if missing. */
  readonly dataDir: string;
  /**
   * A port on the loopback interface, 0 chooses a free one: every user of the machine can then read and append. Default: a socket in its
   * directory, for its own user only.
   */
  readonly port?: number;
  /** Maximum wait for a process that still holds the directory but is about to end. */
  readonly patience_ms?: number;
  /** Receives problems for an operator. */
  readonly tell?: Tell;
  /** Free bytes on a directory's disk. Default: queries the system. */
  readonly freeBytes?: (directory: string) => number;
  /** Default: a single node, which leads. */
  readonly place?: ClusterPlace;
}

export interface EventStoreNode {
  /** Connection string for clients. */
  readonly url: string;
  /** Null with a socket. */
  readonly port: number | null;
  /** Finishes submitted writes, ends every call, then closes the data. */
  close(): Promise<void>;
}

const address = '127.0.0.1';

/** Interval of disk checks while nobody writes. */
const look_ms = 1_000;

/** The real server's limit for a request; its 16 MiB leave room for the frame. */
const requestMost_bytes = 16 * 1024 * 1024 - 10_000;

/**
 * A single EventStoreDB node inside this program: the same gRPC protocol, over LMDB. Its directory belongs to its user alone. For one
 * machine; for a cluster, use another connection string.
 * @throws DirectoryInUse if another process uses the directory; Damaged
 */
export async function startNode(options: NodeOptions): Promise<EventStoreNode> {
  const { dataDir, port = null, patience_ms = 0, place } = options;
  const tell = tellingOnce(options.tell ?? (() => {}));
  const socket = port === null ? socketIn(dataDir) : null;
  if (socket !== null) mustFit(socket);
  const lock = await lockDirectory(dataDir, patience_ms);
  chmodSync(dataDir, 0o700);
  const storage = await openStorage(join(dataDir, 'events'), lock.hadLog).catch((error) => {
    lock.release();
    throw error;
  });
  lock.holdsLog();
  const grown = createBell();
  const room = createRoom({
    directory: dataDir,
    onChange: (trouble) => tell(writing(dataDir, trouble)),
    ...(options.freeBytes && { freeBytes: options.freeBytes }),
  });
  const looking = setInterval(room.look, look_ms).unref();
  const writer = createWriter(storage, grown, { room, tell });
  const server = new Server({
    'grpc.max_receive_message_length': requestMost_bytes,
    'grpc.max_send_message_length': -1,
    ...(place && { interceptors: [place.interceptor] }),
  });
  let bound = port ?? 0;
  server.addService(streamsService, {
    read: readService(storage, grown, tell),
    append: appendService(writer),
    batchAppend: batchAppendService(writer, place?.refusal),
    delete: deleteService(writer),
    tombstone: tombstoneService(writer),
  });
  server.addService(featuresMethods, { getSupportedMethods: featuresService });
  server.addService(gossipMethods, {
    read: gossipService(place?.members ?? (() => [{ address, port: bound, state: 'leader', isAlive: true }])),
  });
  try {
    await beginEpoch();
    bound = await (socket === null ? listen(server, `${address}:${bound}`) : listenOn(server, socket));
  } catch (error) {
    clearInterval(looking);
    await storage.close();
    lock.release();
    throw error;
  }

  /** A node that cannot write, or whose data is partly damaged, starts without an epoch: readers still get the rest. */
  async function beginEpoch(): Promise<void> {
    try {
      await writeEpoch(storage, writer);
    } catch (error) {
      if (error instanceof Damaged) tell(troubleOf(error));
      else if (!(error instanceof CannotWrite)) throw error;
    }
  }

  return {
    url: socket === null ? `esdb://${address}:${bound}?tls=false` : socketUrl(socket),
    port: socket === null ? bound : null,
    async close() {
      clearInterval(looking);
      await writer.drained();
      server.forceShutdown();
      // Ended calls submit their last changes in this turn. These are written before the data is closed.
      await nextTurn();
      await writer.drained();
      await storage.close();
      lock.release();
    },
  };
}

function listen(server: Server, where: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(where, ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
}

/** Removes the socket of a killed node: the holder of the directory's lock is alone. */
async function listenOn(server: Server, socket: string): Promise<number> {
  rmSync(socket, { force: true });
  const bound = await listen(server, `unix:${socket}`);
  chmodSync(socket, 0o600);
  return bound;
}
