/** A cluster of event stores from its clients' view. A node gets another node's data by a copy, when a spec makes one. */
import { subscribe } from 'node:diagnostics_channel';
import { cpSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import {
  createSeat,
  type Endpoint,
  memberAt,
  type NodeRole,
  type Seat,
} from '../../sandbox/trials/containers/standins/eventstore/seat.ts';
import { type ClusterMember, type EventStoreNode, startNode } from '../../src/store/node/node.ts';
import { onStop } from './hooks.ts';
import { temporaryDirectory } from './temporaryDirectory.ts';

export interface ClusterNode extends Endpoint {
  readonly seat: Seat;
  readonly dataDir: string;
  /** URL of only this node, for a client. */
  readonly url: string;
  /** Stops answering, including connections. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Copies the present log of another node and replaces its own; both are up afterwards. */
  copy(from: ClusterNode): Promise<void>;
}

export interface Cluster {
  readonly nodes: readonly [ClusterNode, ClusterNode, ClusterNode];
  /** Every node as a seed. */
  readonly url: string;
  /** Makes this node the leader; running nodes follow it. */
  lead(leader: ClusterNode): void;
  all(standing: NodeRole): void;
  /** Number of clients' connections to the nodes. */
  connections(): number;
}

const address = '127.0.0.1';

export async function startCluster(): Promise<Cluster> {
  const members: (() => ClusterMember)[] = [];
  const seeds = () => members.map((member) => member());
  const nodes = [await startMember(seeds), await startMember(seeds), await startMember(seeds)] as const;
  for (const { node, isUp } of nodes)
    members.push(() => memberAt(node, node.seat.standing, isUp() && node.seat.standing !== 'frozen'));
  const [a, b, c] = nodes.map(({ node }) => node) as [ClusterNode, ClusterNode, ClusterNode];
  const cluster: Cluster = {
    nodes: [a, b, c],
    url: `esdb+discover://${[a, b, c].map(({ port }) => `${address}:${port}`).join(',')}?tls=false`,
    lead(leader) {
      for (const { node } of nodes) node.seat.take(node === leader ? 'leader' : { follows: leader });
    },
    connections: () =>
      [...accepted].filter(({ localPort }) => nodes.some(({ node }) => node.port === localPort)).length,
    all(standing) {
      for (const { node } of nodes) node.seat.take(standing);
    },
  };
  cluster.lead(a);
  return cluster;
}

/** Sockets that this process has accepted and not closed. */
const accepted = new Set<Socket>();
subscribe('net.server.socket', (message) => {
  const { socket } = message as { socket: Socket };
  accepted.add(socket);
  socket.once('close', () => accepted.delete(socket));
});

async function startMember(members: () => readonly ClusterMember[]) {
  const dataDir = temporaryDirectory();
  const seat = createSeat(members);
  let running: EventStoreNode | null = await startNode({ dataDir, port: 0, place: seat });
  const port = running.port ?? 0;
  const stop = async (): Promise<void> => {
    await running?.close();
    running = null;
  };
  const start = async (): Promise<void> => {
    running ??= await startNode({ dataDir, port, place: seat });
  };
  onStop(stop);
  const node: ClusterNode = {
    address,
    port,
    seat,
    dataDir,
    url: `esdb://${address}:${port}?tls=false`,
    stop,
    start,
    async copy(from) {
      await from.stop();
      await stop();
      rmSync(dataDir, { recursive: true });
      cpSync(from.dataDir, dataDir, { recursive: true });
      await from.start();
      await start();
    },
  };
  return { node, isUp: () => running !== null };
}
