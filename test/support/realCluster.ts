/** Three nodes of the real EventStoreDB with TLS, each of which a spec can kill, freeze and start again. */
import { existsSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { canListen, freePort } from '../../sandbox/freePort.ts';
import { patience_ms } from './patience.ts';
import { realStoreEnvironment, realStoreProgram } from './realEventStore.ts';
import { createServerProcess, type ServerProcess } from './serverProcess.ts';
import { temporaryDirectory } from './temporaryDirectory.ts';

export interface RealClusterNode extends ServerProcess {
  readonly port: number;
}

export interface RealCluster {
  /** For EVENTSTORE_URL: every node as a seed, as the user admin. */
  readonly url: string;
  readonly nodes: readonly RealClusterNode[];
  /** Resolves with the node that calls itself leader, and that most of the three name as leader. */
  leader(): Promise<RealClusterNode>;
  followers(): Promise<readonly RealClusterNode[]>;
  /** Resolves when there is a leader and two followers. */
  whole(): Promise<void>;
  stop(): Promise<void>;
}

interface Member {
  readonly state: string;
  readonly isAlive: boolean;
  readonly httpEndPointPort: number;
}

/** The `cluster` program gives each node its port, and the next one for replication. */
const portStep = 10;
const places = [1, 2, 3] as const;
const majority = 2;
const triesMax = 50;
/** A restarted node may end with exit code 0, probably to remove events that the new leader lacks, and expects to be started again. */
const restartsMax = 5;
const poll_ms = 400;
/** A frozen node accepts connections and does not answer. */
const gossip_ms = 1_000;

/** Starts three nodes on an empty folder. */
export async function startRealCluster(): Promise<RealCluster> {
  const folder = temporaryDirectory();
  const program = realStoreProgram().replace(/start$/, 'cluster');
  const firstPort = await freeRange();
  const ca = join(folder, 'tls', 'ca', 'ca.crt');
  const certificate = join(folder, 'tls', 'node.crt');

  // A connection per poll would cost each node a TLS handshake.
  const agent = new Agent({ keepAlive: true });
  const portOf = (place: number) => firstPort + portStep * (place - 1);
  const nodes = places.map((place): RealClusterNode => {
    const port = portOf(place);
    const server = createServerProcess({
      program,
      args: [folder, `${firstPort}`, `${place}`],
      env: realStoreEnvironment(),
      logFile: join(folder, `${place}.log`),
      restartsMax,
      isReady: async () => existsSync(certificate) && (await gossipOf(port)) !== null,
    });
    return { ...server, port };
  });
  const [first, ...others] = nodes;
  // The first one makes the certificates of all.
  await first?.start();
  await Promise.all(others.map((node) => node.start()));

  async function gossipOf(port: number): Promise<readonly Member[] | null> {
    try {
      return JSON.parse(await get(agent, port, readFileSync(ca, 'utf8'))).members;
    } catch {
      return null;
    }
  }

  /** State of each answering node, if most nodes agree. */
  async function states(): Promise<ReadonlyMap<number, string>> {
    const views = await Promise.all(nodes.map(({ port }) => gossipOf(port)));
    const stateIn = (view: readonly Member[] | null | undefined, port: number) =>
      view?.find(({ isAlive, httpEndPointPort }) => isAlive && httpEndPointPort === port)?.state;
    return new Map(
      nodes.flatMap(({ port }, index): [number, string][] => {
        const own = stateIn(views[index], port);
        const agreeing = views.filter((view) => own !== undefined && stateIn(view, port) === own);
        return own !== undefined && agreeing.length >= majority ? [[port, own]] : [];
      }),
    );
  }

  async function found<T>(find: (states: ReadonlyMap<number, string>) => T | undefined): Promise<T> {
    for (const until_ms = performance.now() + patience_ms; performance.now() < until_ms; await sleep(poll_ms)) {
      const result = find(await states());
      if (result !== undefined) return result;
    }
    throw new Error(`the cluster is still ${JSON.stringify([...(await states())])} after ${patience_ms} ms`);
  }

  const cluster: RealCluster = {
    url: `esdb://admin:changeit@${nodes.map(({ port }) => `127.0.0.1:${port}`).join()}?tls=true&tlsCAFile=${ca}`,
    nodes,
    leader: () => found((states) => nodes.find(({ port }) => states.get(port) === 'Leader')),
    followers: () =>
      found((states) => {
        const following = nodes.filter(({ port }) => states.get(port) === 'Follower');
        return following.length === majority ? following : undefined;
      }),
    async whole() {
      await Promise.all([cluster.leader(), cluster.followers()]);
    },
    async stop() {
      agent.destroy();
      await Promise.all(nodes.map((node) => node.stop()));
    },
  };
  await cluster.whole();
  return cluster;
}

/** A port that is free with all that a cluster uses beside it: two for each node. */
async function freeRange(): Promise<number> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const first = await freePort();
    const ports = places.flatMap((place) => [0, 1].map((offset) => first + portStep * (place - 1) + offset));
    const free = await Promise.all(ports.map(canListen));
    if (free.every(Boolean)) return first;
  }
  throw new Error(`no free ports for a cluster in ${triesMax} tries`);
}

function get(agent: Agent, port: number, ca: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path: '/gossip', ca, timeout: gossip_ms, agent }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      answer.on('end', () => resolve(text)).on('error', reject);
    });
    asked.on('timeout', () => asked.destroy(new Error(`no answer within ${gossip_ms} ms`)));
    asked.on('error', reject).end();
  });
}
