/** Faults of containers during payments, one after the other for each compose file; the engine restarts killed containers. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Strike } from '../world.ts';
import type { Container, Project } from './project.ts';
import type { ShapeName } from './shapes.ts';

export interface Fault {
  readonly says: string;
  readonly lasts_s: number;
  /** True if another instance continues: payments paid at the start are paid out before the end. */
  readonly hasStandby?: boolean;
  readonly strike: Strike<Project>;
}

/** Chooses the affected container. */
type Which = (project: Project) => Promise<Container>;

/** The engine restarts a process that dies, but not one that the engine itself kills. */
const isAway_ms = 3_000;
/** Longer than a silent session may hold a lease, and than the timeout of a silent connection. */
const frozen_s = 45;
const cut_s = 45;
const away_s = 30;
const calm_s = 15;

const killed = (service: string, which: Which = anyOf(service)): Fault => ({
  says: `${service} killed`,
  lasts_s: 10,
  async strike(project) {
    const { id } = await which(project);
    await kill(project, id);
    return async () => {};
  },
});

/** Its data remains, and the engine does not restart it before this fault ends. */
const away = (service: string, which: Which): Fault => ({
  hasStandby: true,
  says: `${service} killed and away for ${away_s} s`,
  lasts_s: away_s,
  async strike(project) {
    const { id } = await which(project);
    await project.engine.docker(['kill', id]);
    return async () => void (await project.engine.docker(['start', id]));
  },
});

const frozen = (service: string, which?: Which): Fault => ({
  hasStandby: which !== undefined,
  says: `${service} frozen for ${frozen_s} s`,
  lasts_s: frozen_s,
  async strike(project) {
    const { id } = await (which ?? anyOf(service))(project);
    await project.engine.docker(['pause', id]);
    return async () => void (await project.engine.docker(['unpause', id]));
  },
});

const cutOff = (service: string, which?: Which): Fault => ({
  hasStandby: which !== undefined,
  says: `${service} without network for ${cut_s} s`,
  lasts_s: cut_s,
  async strike(project) {
    const { id } = await (which ?? anyOf(service))(project);
    const { docker } = project.engine;
    const networks = await networksOf(project, id);
    for (const { name } of networks) await docker(['network', 'disconnect', name, id]);
    return async () => {
      for (const { name, aliases } of networks)
        await docker(['network', 'connect', ...aliases.flatMap((alias) => ['--alias', alias]), name, id]);
    };
  },
});

/** Kills without the engine's knowledge, like the kernel when memory is short; if that is not allowed, through the engine. */
async function kill({ engine }: Project, id: string): Promise<void> {
  const pid = Number(await engine.docker(['inspect', '--format', '{{.State.Pid}}', id]));
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    await engine.docker(['kill', id]);
    await sleep(isAway_ms);
    await engine.docker(['start', id]);
  }
}

async function networksOf({ engine }: Project, id: string) {
  const text = await engine.docker(['inspect', '--format', '{{json .NetworkSettings.Networks}}', id]);
  const networks = JSON.parse(text) as Record<string, { Aliases: readonly string[] | null }>;
  return Object.entries(networks).map(([name, { Aliases }]) => ({
    name,
    aliases: (Aliases ?? []).filter((alias) => !id.startsWith(alias)),
  }));
}

function anyOf(service: string): Which {
  return async (project) => first(await project.containers(service), service);
}

/** The active instance: it holds leases, and Postgres knows its address. */
const activeOf =
  (service: string): Which =>
  async (project) => {
    const all = await project.containers(service);
    const asked = `SELECT host(client_addr) FROM pg_stat_activity a JOIN pg_locks l USING (pid) WHERE l.locktype = 'advisory' AND l.granted`;
    const holders = await query(project, asked);
    for (const container of all) {
      const addresses = await addressesOf(project, container.id);
      if (addresses.some((address) => holders.includes(address))) return container;
    }
    return first(all, service);
  };

/** The leader of the cluster, as its nodes gossip. */
async function leaderOf(project: Project): Promise<Container> {
  const [any = ''] = project.shape.eventStores;
  const certificates = '/etc/eventstore/certificates/ca/ca.crt';
  const gossip = await project.exec(any, 'curl', '--silent', '--cacert', certificates, `https://${any}:2113/gossip`);
  const { members } = JSON.parse(gossip) as { members: readonly { state: string; httpEndPointIp: string }[] };
  const leader = members.find(({ state }) => state === 'Leader')?.httpEndPointIp ?? any;
  return first(await project.containers(leader), leader);
}

async function addressesOf({ engine }: Project, id: string): Promise<readonly string[]> {
  const format = '{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}';
  return (await engine.docker(['inspect', '--format', format, id])).trim().split(' ');
}

/** By a separate connection, because Postgres may have any image. */
async function query(project: Project, sql: string): Promise<readonly string[]> {
  const program = `
    const { readFileSync } = require('node:fs');
    const { Client } = require('pg');
    const url = process.env.DATABASE_URL || readFileSync(process.env.DATABASE_URL_FILE, 'utf8').trim();
    const client = new Client(url);
    client.connect().then(() => client.query({ text: process.argv[1], rowMode: 'array' }))
      .then(({ rows }) => (console.log(rows.flat().join('\\n')), client.end()));`;
  const printed = await project.exec(project.shape.tools, 'node', '-e', program, sql);
  return printed.split('\n').filter(Boolean);
}

function first(all: readonly Container[], service: string): Container {
  const [one] = all;
  if (!one) throw new Error(`${service} has no container`);
  return one;
}

/** Without faults, for comparison. */
export const calm: Fault = { says: 'nothing', lasts_s: calm_s, strike: async () => async () => {} };

export const plans: Readonly<Record<ShapeName, readonly Fault[]>> = {
  one: [
    killed('api'),
    killed('service'),
    frozen('service'),
    cutOff('service'),
    killed('eventstore'),
    killed('postgres'),
  ],
  scale: [
    killed('api'),
    killed('balancer'),
    frozen('subscribers', activeOf('subscribers')),
    cutOff('projections', activeOf('projections')),
    away('leader of the event store', leaderOf),
    killed('postgres'),
    killed('signer'),
  ],
};
