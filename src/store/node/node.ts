/** The embedded node: opens its storage and serves the calls of EventStoreDB over gRPC. */

import { randomUUID } from 'node:crypto';
import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import features from '@eventstore/db-client/generated/serverfeatures_pb.js';
import { type handleUnaryCall, Server, ServerCredentials } from '@grpc/grpc-js';
import { mustFit, socketIn, socketUrl } from '../wire.ts';
import { appendService, deleteService, tombstoneService } from './appends.ts';
import { batchAppendService } from './batchAppends.ts';
import { Damaged } from './environment.ts';
import { lockDirectory } from './lock.ts';
import { structuredUuid } from './messages.ts';
import { readService } from './reads.ts';
import { featuresMethods, gossipMethods, streamsService } from './requests.ts';
import { CannotWrite, createRoom } from './room.ts';
import { type Member, type Seat, seated } from './seat.ts';
import { openStorage } from './storage.ts';
import { type Tell, tellingOnce, troubleOf, writing } from './trouble.ts';
import { createBell, createWriter, writeEpoch } from './writer.ts';

/** The server version whose behaviour this node shows. */
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

function stateOf({ standing }: Member) {
  if (standing === 'leader' || standing === 'frozen') return VNodeState.LEADER;
  return typeof standing === 'object' ? VNodeState.FOLLOWER : VNodeState.UNKNOWN;
}

/** Alone, a node is a cluster of one, its own leader. */
export function gossipService(members: () => readonly Member[]): handleUnaryCall<unknown, gossip.ClusterInfo> {
  const instanceId = structuredUuid(randomUUID());
  return (_call, callback) => {
    const told = members().map((member) =>
      new gossip.MemberInfo()
        .setInstanceId(instanceId)
        .setTimeStamp(`${Date.now()}0000`)
        .setState(stateOf(member))
        .setIsAlive(member.isAlive)
        .setHttpEndPoint(new gossip.EndPoint().setAddress(member.address).setPort(member.port)),
    );
    callback(null, new gossip.ClusterInfo().setMembersList(told));
  };
}

export interface NodeOptions {
  /** Everything the node keeps; made when missing. */
  readonly dataDir: string;
  /**
   * A port on the loopback interface, 0 takes a free one: every user of the machine can then read and append. Without one, the node is
   * reached by a socket in its directory, by its own user alone.
   */
  readonly port?: number;
  /** How long to wait for a process that still holds the directory but is about to end. */
  readonly patience_ms?: number;
  /** Told of what an operator must know. */
  readonly tell?: Tell;
  /** What the disk has left for a directory, in bytes; the system is asked when left out. */
  readonly freeBytes?: (directory: string) => number;
  /** Has the node answer as one of a cluster; for specs alone. */
  readonly seat?: Seat;
}

export interface EventStoreNode {
  /** Connection string for clients. */
  readonly url: string;
  /** Null with a socket. */
  readonly port: number | null;
  /** Finishes writing what was submitted, cuts off every call, then closes the data. */
  close(): Promise<void>;
}

const address = '127.0.0.1';

/** How often the disk is looked at while nobody writes. */
const look_ms = 1_000;

/** The real server's limit for a request; its 16 MiB leave room for the frame. */
const requestMost_bytes = 16 * 1024 * 1024 - 10_000;

/**
 * A single EventStoreDB node inside this program: the same gRPC protocol, over LMDB. Its directory is its user's alone. For one
 * machine; a cluster is a matter of another connection string.
 * @throws DirectoryInUse when another process works on the directory; Damaged
 */
export async function startNode(options: NodeOptions): Promise<EventStoreNode> {
  const { dataDir, port = null, patience_ms = 0, seat } = options;
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
    ...(seat && { interceptors: [seated(seat)] }),
  });
  let bound = port ?? 0;
  server.addService(streamsService, {
    read: readService(storage, grown, tell),
    append: appendService(writer),
    batchAppend: batchAppendService(writer, seat),
    delete: deleteService(writer),
    tombstone: tombstoneService(writer),
  });
  server.addService(featuresMethods, { getSupportedMethods: featuresService });
  server.addService(gossipMethods, {
    read: gossipService(seat ? seat.members : () => [{ address, port: bound, standing: 'leader', isAlive: true }]),
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

  /** A node that cannot write, or whose data is damaged in part, starts without an epoch: its readers still get the rest. */
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
      // Calls that were cut off submit their last changes in this turn. These are written before the data is closed.
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

/** What a killed node left there is taken away: whoever holds the directory's lock is alone. */
async function listenOn(server: Server, socket: string): Promise<number> {
  rmSync(socket, { force: true });
  const bound = await listen(server, `unix:${socket}`);
  chmodSync(socket, 0o600);
  return bound;
}
