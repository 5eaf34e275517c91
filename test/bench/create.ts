/** Creation of payments: the real service against plain Express with an INSERT of the same body, and against a peer's stack, in turns on one machine. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { applyLoad, type Measured } from './load.ts';
import { cpuSeconds, loadText } from './machine.ts';
import { type Server, startServer } from './servers.ts';
import { median, table, whole } from './table.ts';
import type { BenchWorld } from './world.ts';

export interface CreateOptions {
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
}

interface Contender {
  readonly name: string;
  readonly server: Server;
  /** Processes whose processor time a request costs, besides the server that answers it. */
  readonly behind: Readonly<Record<string, readonly number[]>>;
}

interface Run extends Measured {
  /** Processor time of the answering process, per request. */
  readonly own_us: number;
  /** Processor time of the processes behind it, per request. */
  readonly behind_us: Readonly<Record<string, number>>;
}

const body = JSON.stringify({
  orderId: 'order-[n]',
  type: 'exactOut',
  display: { title: 'Coffee beans', currency: 'USD' },
  metadata: { table: '7', waiter: 'b12' },
  source: { chainId: 8453, tokenSymbol: 'USDC' },
  destination: {
    chainId: 8453,
    tokenSymbol: 'USDC',
    // The treasury can pay a million of them: beyond its float, the service refuses new payments.
    amount: '1.00',
    receiverAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  },
});
/** Processes behind a service, whose processor time a request also costs. */
const parts = ['event store', 'Postgres', 'projections'] as const;
const warmUp = { requests: 20_000, step_s: 3, most_s: 45 };
const drain_ms = 120_000;

/** @returns a table, and the ratio of each arrangement to the plain service and to a peer's stack */
export async function benchCreate(world: BenchWorld, options: CreateOptions): Promise<string> {
  const plain = await startServer('test/bench/plain.ts', { ...world.env, ...flags('plain') });
  const rows: (readonly (string | number)[])[] = [];
  try {
    for (const [name, { start, peer }] of Object.entries(arrangements)) {
      const twin = await startTwin(world, peer);
      const { service, others } = await start(world);
      try {
        await settled(world);
        const stores = { 'event store': [world.eventStore.pid], Postgres: [world.postgres] };
        const ours = { name, server: service, behind: { ...stores, projections: others.map(({ pid }) => pid) } };
        const besides = { Postgres: [world.postgres] };
        const theirs = { name: 'plain beside it', server: plain, behind: besides };
        rows.push(...(await compare(world, [theirs, ours, { name: peer, server: twin, behind: besides }], options)));
      } finally {
        for (const server of [service, ...others, twin]) await server.stop();
      }
    }
  } finally {
    await plain.stop();
  }
  const head = ['create', 'payments/s', 'p50 ms', 'p99 ms', 'CPU µs of it', ...parts, 'ratio to plain'];
  return `${table(head, rows)}\n${options.connections} connections, median of ${options.rounds} alternating runs of ${options.seconds} s; load of the machine after: ${loadText()}`;
}

const flags = (name: string): Record<string, string> => {
  const given = process.env[`BENCH_FLAGS_${name.toUpperCase()}`];
  return given ? { BENCH_NODE_FLAGS: given } : {};
};

interface Arranged {
  readonly service: Server;
  readonly others: readonly Server[];
}

type Peer = 'Emmett' | 'Emmett, inline projection';

/** Distribution of the service's roles, and the equal part of a peer. All cases fill the read models; the first one fills them afterwards. */
const arrangements: Readonly<
  Record<string, { readonly peer: Peer; readonly start: (world: BenchWorld) => Promise<Arranged> }>
> = {
  'API; projections elsewhere': {
    peer: 'Emmett',
    start: async ({ env }) => ({
      service: await startServer('src/main.ts', { ...env, ROLES: 'api', ...flags('api') }),
      others: [],
    }),
  },
  'API + projections beside it': {
    peer: 'Emmett, inline projection',
    start: async ({ env }) => {
      const rest = await startServer('src/main.ts', { ...env, ROLES: 'projections,subscribers', ...flags('rest') });
      const service = await startServer('src/main.ts', { ...env, ROLES: 'api', ...flags('split') });
      return { service, others: [rest] };
    },
  },
  'all roles in one process': {
    peer: 'Emmett, inline projection',
    start: async ({ env }) => ({ service: await startServer('src/main.ts', { ...env, ...flags('all') }), others: [] }),
  },
};

/** Installs the peer's packages for the measurement: the product does not depend on them. */
async function startTwin({ env, database }: BenchWorld, peer: Peer): Promise<Server> {
  const folder = fileURLToPath(new URL('emmett', import.meta.url));
  if (!existsSync(`${folder}/node_modules`)) execFileSync('npm', ['ci', '--ignore-scripts'], { cwd: folder });
  const name = peer === 'Emmett' ? 'emmett' : 'emmett_inline';
  const [there] = await database.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
  if (!there) await database.query(`CREATE DATABASE ${name}`);
  const url = new URL(env['DATABASE_URL'] ?? '');
  url.pathname = name;
  const own = { EMMETT_URL: url.href, ...(peer !== 'Emmett' && { EMMETT_PROJECTION: 'inline' }) };
  return startServer('test/bench/emmett/app.js', { ...env, ...own });
}

/** @param contenders all others are compared with the first one */
async function compare(world: BenchWorld, contenders: readonly Contender[], options: CreateOptions) {
  const runs = contenders.map((): Run[] => []);
  for (const { server } of contenders) await warm(world, server, options);
  for (let round = 0; round < options.rounds; round += 1) {
    for (const [at, contender] of contenders.entries()) {
      await settled(world);
      runs[at]?.push(await measured(world, contender, options));
    }
  }
  await settled(world);
  const [plain = []] = runs;
  return contenders.map(({ name }, at) => {
    const of = runs[at] ?? [];
    const ratios = of.map(({ perSecond }, round) => perSecond / (plain[round]?.perSecond ?? Number.NaN));
    return [
      name,
      whole(median(of.map(({ perSecond }) => perSecond))),
      median(of.map(({ p50_ms }) => p50_ms)),
      median(of.map(({ p99_ms }) => p99_ms)),
      whole(median(of.map(({ own_us }) => own_us))),
      ...parts.map((part) => whole(median(of.map(({ behind_us }) => behind_us[part] ?? 0)))),
      median(ratios).toFixed(2),
    ];
  });
}

async function measured(world: BenchWorld, { server, behind }: Contender, options: CreateOptions): Promise<Run> {
  const cpu = () =>
    Object.entries({ own: [server.pid], ...behind }).map(([part, pids]) => [part, cpuSeconds(pids)] as const);
  const before = new Map(cpu());
  const result = await load(world, server, options);
  const used = cpu().map(([part, seconds]) => [part, ((seconds - (before.get(part) ?? 0)) * 1e6) / result.requests]);
  const { own: own_us, ...behind_us } = Object.fromEntries(used);
  return { ...result, own_us, behind_us };
}

/** Warms each program up: before V8 has optimized it, its requests cost several times more. */
async function warm(world: BenchWorld, server: Server, options: CreateOptions): Promise<void> {
  for (let done = 0, spent_s = 0; done < warmUp.requests && spent_s < warmUp.most_s; spent_s += warmUp.step_s) {
    done += (await load(world, server, { ...options, seconds: warmUp.step_s })).requests;
  }
}

/** Creates payments for a number of seconds. */
export const load = (
  { ordersKey }: BenchWorld,
  { url }: Server,
  { connections, seconds }: Pick<CreateOptions, 'connections' | 'seconds'>,
) =>
  applyLoad({
    url: `${url}/payment-api/payments`,
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': ordersKey },
    body,
    connections,
    duration_s: seconds,
  });

/** Waits until the read models contain all created payments, so that no run does the work of an earlier one. */
export async function settled({ database }: BenchWorld): Promise<void> {
  let last = '';
  for (let waited_ms = 0; waited_ms < drain_ms; waited_ms += 250) {
    const rows = await database.query<{ at: bigint }>(
      `SELECT position AS at FROM ops.projections WHERE status = 'active' ORDER BY set_name`,
    );
    const now = rows.map(({ at }) => at).join();
    if (now === last) return;
    last = now;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  throw new Error(`the read models did not catch up within ${drain_ms} ms`);
}
