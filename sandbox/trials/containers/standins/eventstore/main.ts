/**
 * Replaces EventStoreDB if its image is unavailable: this product's own node, configured by EventStoreDB's variables. As one of three it
 * looks like a cluster to clients: TLS with the node's certificate, gossip, one leader, refusals of non-leaders. Nothing is replicated: the
 * three share one directory, and the holder of its lock leads. So a killed leader is followed by another one with the same log, and a
 * frozen leader is an outage. Users are not checked.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { DirectoryInUse } from '../../../../../src/store/node/lock.ts';
import { type ClusterMember, type EventStoreNode, startNode } from '../../../../../src/store/node/node.ts';
import { openFront } from './front.ts';
import { createSeat, type Endpoint, memberAt } from './seat.ts';

const port = 2113;
const look_ms = 500;
const own = '/var/lib/eventstore';
const shared = '/shared';
const env = process.env;
const isClustered = Number(env['EVENTSTORE_CLUSTER_SIZE'] ?? '1') > 1;
const name = env['EVENTSTORE_NODE_HOST_ADVERTISE_AS'] ?? 'eventstore';
const others = (env['EVENTSTORE_GOSSIP_SEED'] ?? '')
  .split(',')
  .filter(Boolean)
  .map((seed) => seed.split(':')[0] ?? '');
const leaderFile = `${shared}/leader`;

const endpoint = (address: string): Endpoint => ({ address, port });

/** The last node that recorded its leadership. */
function leader(): string {
  try {
    return readFileSync(leaderFile, 'utf8');
  } catch {
    return '';
  }
}

const members = (): readonly ClusterMember[] =>
  [name, ...others].map((each) =>
    memberAt(endpoint(each), each === leader() ? 'leader' : { follows: endpoint(leader()) }, true),
  );

const seat = createSeat(members);
let node: EventStoreNode | null = null;
let leads = false;

openFront({
  port,
  tls: env['EVENTSTORE_CERTIFICATE_FILE']
    ? {
        certFile: env['EVENTSTORE_CERTIFICATE_FILE'],
        keyFile: env['EVENTSTORE_CERTIFICATE_PRIVATE_KEY_FILE'] ?? '',
      }
    : null,
  nodePort: () => node?.port ?? 0,
  answer,
});

function answer({ url = '', method }: IncomingMessage, response: ServerResponse): void {
  if (url === '/health/live') response.writeHead(node ? 204 : 503).end();
  else if (url === '/users' && method === 'POST') response.writeHead(201).end();
  else if (url === '/gossip')
    response.writeHead(200, { 'content-type': 'application/json' }).end(
      JSON.stringify({
        members: members().map(({ address, state, isAlive }) => ({
          state: state === 'leader' ? 'Leader' : 'Follower',
          isAlive,
          httpEndPointIp: address,
          httpEndPointPort: port,
        })),
      }),
    );
  else response.writeHead(404).end();
}

/** A follower's own log is empty: its only answer is that another node leads. */
async function follow(): Promise<void> {
  seat.take({ follows: endpoint(leader()) });
  node ??= await startNode({ dataDir: `${own}/follower`, port: 0, place: seat });
}

async function lead(): Promise<boolean> {
  try {
    const taken = await startNode({ dataDir: `${shared}/log`, port: 0, place: seat });
    const before = node;
    writeLeader();
    seat.take('leader');
    node = taken;
    await before?.close();
    return true;
  } catch (error) {
    if (error instanceof DirectoryInUse) return false;
    throw error;
  }
}

function writeLeader(): void {
  writeFileSync(`${leaderFile}.${name}`, name);
  renameSync(`${leaderFile}.${name}`, leaderFile);
}

const end = () => void node?.close().then(() => process.exit(0));
process.once('SIGTERM', end);
process.once('SIGINT', end);

if (!isClustered) node = await startNode({ dataDir: `${own}/log`, port: 0, patience_ms: 10_000 });
while (isClustered && !leads) {
  leads = await lead();
  if (!leads) await follow();
  await sleep(look_ms);
}
