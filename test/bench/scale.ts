/** Two instances of the API against one, on shared stores; and the losses when an instance of each role is killed under load. */
import { cpus } from 'node:os';
import { settled } from './create.ts';
import { holdTo } from './held.ts';
import { type Instances, killEach, type Role } from './kills.ts';
import { applyLoad, type Load, type Measured } from './load.ts';
import { cpuSeconds, loadText } from './machine.ts';
import { orderOf } from './payments.ts';
import { type Server, startServer } from './servers.ts';
import { median, table, whole } from './table.ts';
import type { BenchWorld } from './world.ts';

export interface ScaleOptions {
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
  /** Limit of each instance of the API, as a share of one processor. Default: no limit. */
  readonly share?: number;
}

const parts = ['one API', 'other API', 'projections', 'subscribers', 'event store', 'Postgres', 'load'] as const;

/** @returns the throughput of one and of two instances, their processor time, and the losses after a kill of each role */
export async function benchScale(world: BenchWorld, options: ScaleOptions): Promise<string> {
  const instances = await startAll(world);
  const { share } = options;
  const releases: (() => void)[] = [];
  try {
    if (share !== undefined) releases.push(...instances.api.map(({ pid }) => holdTo(pid, share)));
    const taken = await compare(world, instances, options);
    return `${taken}\n\n${await killEach(world, instances, options)}\nload of the machine after: ${loadText()}`;
  } finally {
    for (const each of Object.values(instances).flat()) await each.stop();
    for (const release of releases) release();
  }
}

async function startAll({ env }: BenchWorld): Promise<Instances> {
  const pair = async (role: Role): Promise<readonly [Server, Server]> => {
    const start = () => startServer('src/main.ts', { ...env, ROLES: role });
    return [await start(), await start()];
  };
  return { projections: await pair('projections'), subscribers: await pair('subscribers'), api: await pair('api') };
}

interface Run extends Measured {
  /** Busy share of all processors of the machine. */
  readonly busy: number;
  readonly cpu_s: Readonly<Record<(typeof parts)[number], number>>;
  readonly wall_s: number;
}

async function compare(world: BenchWorld, instances: Instances, options: ScaleOptions): Promise<string> {
  const [one, other] = instances.api;
  const [alone, both]: [Run[], Run[]] = [[], []];
  await measured(world, instances, [one, other], { ...options, seconds: options.seconds * 2 });
  for (let round = 0; round < options.rounds; round += 1) {
    alone.push(await measured(world, instances, [one], options));
    both.push(await measured(world, instances, [one, other], options));
  }
  const rate = (runs: readonly Run[]) => median(runs.map(({ perSecond }) => perSecond));
  const row = (name: string, runs: readonly Run[], ratio: number) => [
    name,
    whole(rate(runs)),
    median(runs.map(({ p50_ms }) => p50_ms)),
    median(runs.map(({ p99_ms }) => p99_ms)),
    ...parts.map((part) => percent(median(runs.map(({ cpu_s, wall_s }) => cpu_s[part] / wall_s)))),
    ratio.toFixed(2),
  ];
  const ratio = median(both.map(({ perSecond }, round) => perSecond / (alone[round]?.perSecond ?? Number.NaN)));
  const head = [
    'instances of the API',
    'payments/s',
    'p50 ms',
    'p99 ms',
    ...parts.map((part) => `${part}, of a core`),
    'ratio',
  ];
  return `${table(head, [row('one', alone, 1), row('two', both, ratio)])}\n${options.connections} connections, median of ${options.rounds} alternating runs of ${options.seconds} s${options.share === undefined ? '' : `, each instance held to ${options.share} of a core`}. ${whose(both)}`;
}

/** Explains the ratio: on busy processors a second instance adds little. */
function whose(runs: readonly Run[]): string {
  const cores = cpus().length;
  const ours = median(
    runs.map(({ cpu_s, wall_s }) => Object.values(cpu_s).reduce((sum, each) => sum + each, 0) / wall_s),
  );
  const busy = median(runs.map((run) => run.busy)) * cores;
  return `With two, ${busy.toFixed(2)} of ${cores} cores were busy, ${ours.toFixed(2)} with these parts and ${Math.max(0, busy - ours).toFixed(2)} with the chain and others' work.`;
}

function processors() {
  const times = cpus().map((each) => each.times);
  const all_ms = times.reduce((sum, each) => sum + Object.values(each).reduce((total, part) => total + part, 0), 0);
  return { all_ms, busy_ms: all_ms - times.reduce((sum, { idle }) => sum + idle, 0) };
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** Opens the same number of connections: all to one instance, or half of them to each. */
async function measured(
  world: BenchWorld,
  instances: Instances,
  over: readonly Server[],
  options: ScaleOptions,
): Promise<Run> {
  await settled(world);
  const { projections, subscribers, api } = instances;
  const pids = (servers: readonly Server[]) => servers.map(({ pid }) => pid);
  const used = () => ({
    'one API': cpuSeconds(pids(api.slice(0, 1))),
    'other API': cpuSeconds(pids(api.slice(1))),
    projections: cpuSeconds(pids(projections)),
    subscribers: cpuSeconds(pids(subscribers)),
    'event store': cpuSeconds([world.eventStore.pid]),
    Postgres: cpuSeconds([world.postgres]),
  });
  const [before, began, since] = [used(), processors(), performance.now()];
  const results = await Promise.all(over.map((server) => applyLoad(loadOf(world, server, options, over.length))));
  const [after, wall_s] = [used(), (performance.now() - since) / 1_000];
  const busy = processors().busy_ms - began.busy_ms;
  const all = processors().all_ms - began.all_ms;
  const of = (part: keyof typeof before) => after[part] - before[part];
  const sum = (what: (result: Measured) => number) => results.reduce((total, each) => total + what(each), 0);
  return {
    perSecond: sum(({ perSecond }) => perSecond),
    requests: sum(({ requests }) => requests),
    p50_ms: sum(({ p50_ms }) => p50_ms) / results.length,
    p99_ms: Math.max(...results.map(({ p99_ms }) => p99_ms)),
    own_s: sum(({ own_s }) => own_s),
    wall_s,
    busy: busy / all,
    cpu_s: {
      'one API': of('one API'),
      'other API': of('other API'),
      projections: of('projections'),
      subscribers: of('subscribers'),
      'event store': of('event store'),
      Postgres: of('Postgres'),
      load: sum(({ own_s }) => own_s),
    },
  };
}

const loadOf = (
  { ordersKey }: BenchWorld,
  { url }: Server,
  { connections, seconds }: ScaleOptions,
  share: number,
): Load => ({
  url: `${url}/payment-api/payments`,
  method: 'POST',
  headers: { 'content-type': 'application/json', 'x-api-key': ordersKey },
  body: JSON.stringify({ ...orderOf(), orderId: 'order-[n]' }),
  connections: Math.ceil(connections / share),
  duration_s: seconds,
});
