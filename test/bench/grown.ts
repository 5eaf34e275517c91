/** Costs of a service with many payments: reads, deposit lookups, start. */
import { statSync } from 'node:fs';
import { privateKeyToAddress } from 'viem/accounts';
import { payinAddress } from '../../domain/payment/payins.ts';
import { askAll, monthNamed } from '../../queries/monthlyReport.ts';
import { matchDeposits } from '../../queries/payins.ts';
import { getOverview } from '../../queries/reports.ts';
import { seed } from '../../sandbox/seed.ts';
import { readConfig } from '../../src/config.ts';
import { startService } from '../../src/main.ts';
import { systemClock } from '../../src/process/system.ts';
import { applyLoad } from './load.ts';
import { loadText, ownMemory_MiB } from './machine.ts';
import type { Filled } from './rebuild.ts';
import { type Server, startServer } from './servers.ts';
import { median, table, whole } from './table.ts';
import type { BenchWorld } from './world.ts';

const connections = 10;
const run_s = 3;
const rounds = 3;
/** Token transfers in a full block of a busy chain, few of them to our deposits. */
const transfers = 500;
const blocks = 30;

/** Stores of several sizes are measured in turns, so that other load of the machine affects all of them. */
export async function benchGrown(world: BenchWorld, stores: readonly Filled[]): Promise<string> {
  const grown: Grown[] = [];
  try {
    for (const filled of stores) grown.push(await open(world, filled));
    const rows: (readonly string[])[] = [];
    for (const [line, measure] of Object.entries(measures)) {
      const runs = grown.map(() => [] as number[]);
      for (let round = 0; round < rounds; round += 1) {
        for (const [i, store] of grown.entries()) runs[i]?.push(await measure(store));
      }
      const values = runs.map(median);
      const growth = (values.at(-1) ?? Number.NaN) / (values[0] ?? Number.NaN);
      rows.push([line, ...values.map((value) => value.toFixed(1)), `× ${growth.toFixed(2)}`]);
    }
    const head = ['of a filled store', ...stores.map(({ payments }) => `${whole(payments)} payments`), 'growth'];
    return `${table(head, rows)}\nreading: ${connections} connections, median of ${rounds} alternating runs of ${run_s} s; load of the machine after: ${loadText()}`;
  } finally {
    for (const { server } of grown) await server.stop();
  }
}

interface Grown {
  readonly filled: Filled;
  readonly env: Readonly<Record<string, string>>;
  readonly server: Server;
  readonly adminKey: string;
  readonly paymentId: string;
}

async function open(world: BenchWorld, filled: Filled): Promise<Grown> {
  const env = { ...world.env, DATABASE_URL: filled.database.url, EVENTSTORE_URL: filled.node.url };
  const adminKey = await admin(env);
  const [some] = await filled.database.query<{ id: string }>(
    'SELECT payment_id AS id FROM payments ORDER BY payment_id LIMIT 1 OFFSET 321',
  );
  const server = await startServer('src/main.ts', { ...env, ROLES: 'api' });
  return { filled, env, server, adminKey, paymentId: some?.id ?? '' };
}

const reading =
  (pathOf: (store: Grown) => string) =>
  async (store: Grown): Promise<number> => {
    const { server, adminKey } = store;
    const { perSecond } = await applyLoad({
      url: `${server.url}${pathOf(store)}`,
      method: 'GET',
      headers: { 'x-api-key': adminKey },
      connections,
      duration_s: run_s,
    });
    return (connections / perSecond) * 1_000;
  };

const measures: Readonly<Record<string, (store: Grown) => Promise<number>>> = {
  'get a payment, mean ms': reading(({ paymentId }) => `/payment-api/payments/${paymentId}`),
  'list 20 payments, mean ms': reading(() => '/payment-api/payments?limit=20'),
  'list 20 by status, mean ms': reading(() => '/payment-api/payments?limit=20&status=payment_payout_completed'),
  'find a payment by its order, mean ms': reading(() => '/payment-api/payments?search=order-321'),
  'statistics of 30 days, mean ms': reading(() => '/merchant-api/me/stats?period=30d'),
  'overview of 30 days, mean ms': overview,
  'read 100 events of the feed, mean ms': reading(({ filled }) => `/payment-api/events?after=${filled.payments}`),
  [`find deposits among ${transfers} transfers, ms`]: findDeposits,
  'start of the API, ms': startUp,
  'report of a month, ms': report,
  'analytics: payments of a day, ms': asking(
    "SELECT * FROM analytics.payments WHERE created_at > now() - interval '1 day'",
  ),
  'analytics: profit by route, a month, ms': asking(
    'SELECT source_chain_id, destination_chain_id, sum(profit) FROM analytics.profit WHERE day > current_date - 30 GROUP BY 1, 2',
  ),
  'analytics: conversion by day, ms': asking('SELECT * FROM analytics.conversion'),
  'analytics: held money by reason, ms': asking('SELECT reason, sum(amount) FROM analytics.held_money GROUP BY reason'),
  'analytics: treasury balances, ms': asking('SELECT * FROM analytics.treasury_balances'),
  'memory of the API, MiB': async ({ server }) => ownMemory_MiB(server.pid),
  'memory of the event store beside its file, MiB': async ({ filled: { node } }) => ownMemory_MiB(node.pid),
  'log on disk, MiB': async ({ filled: { logFile } }) => statSync(logFile).size / 2 ** 20,
  'read models on disk, MiB': async ({ filled: { database } }) => {
    const [row] = await database.query<{ bytes: bigint }>('SELECT pg_database_size(current_database()) AS bytes');
    return Number(row?.bytes ?? 0n) / 2 ** 20;
  },
};

/** Runs an analyst's query and reads the whole answer. */
function asking(sql: string): (store: Grown) => Promise<number> {
  return async ({ filled: { database } }) => {
    const began_ms = performance.now();
    await database.query(sql);
    return performance.now() - began_ms;
  };
}

/** Reads the report of the month of the first payments: the fill's days are before today. */
async function report({ filled: { database } }: Grown): Promise<number> {
  const [{ created = '' } = {}] = await database.query<{ created: string }>(
    'SELECT min(created_at) AS created FROM payments',
  );
  const month = monthNamed(created.slice(0, 7));
  if (!month) throw new Error('the store has no payment');
  const began_ms = performance.now();
  await askAll(database, { month, appId: null, prices: {}, now: systemClock.now() });
  return performance.now() - began_ms;
}

/** Runs the first queries of a dashboard page, without rendering. */
async function overview({ filled: { database } }: Grown): Promise<number> {
  const runs: number[] = [];
  for (let run = 0; run < blocks; run += 1) {
    const began_ms = performance.now();
    const { stats } = await getOverview(database, 'wallet_demo', '30d', systemClock.now());
    runs.push(performance.now() - began_ms);
    if (stats.paymentCount === 0) throw new Error('the statistics are empty');
  }
  return median(runs);
}

/** Matches a block: looks up the receiver of every transfer. */
async function findDeposits({ filled: { database } }: Grown): Promise<number> {
  const ours = await database.query<{ address: string }>('SELECT address FROM deposits LIMIT 5');
  const runs: number[] = [];
  for (let block = 0; block < blocks; block += 1) {
    const strangers = Array.from(
      { length: transfers - ours.length },
      (_, i) => `0x${(block * transfers + i).toString(16).padStart(40, '0')}`,
    );
    const began_ms = performance.now();
    const found = await matchDeposits(
      database,
      [...ours.map(({ address }) => address), ...strangers].map((address) => payinAddress(address, null)),
    );
    runs.push(performance.now() - began_ms);
    if (found.length !== ours.length) throw new Error('a deposit was not found');
  }
  return median(runs);
}

async function startUp({ env }: Grown): Promise<number> {
  const began_ms = performance.now();
  const server = await startServer('src/main.ts', { ...env, ROLES: 'api' });
  const ready_ms = performance.now() - began_ms;
  await server.stop();
  return ready_ms;
}

/** Registers the payments' app last: its key authorizes the other requests. */
async function admin(env: Readonly<Record<string, string>>): Promise<string> {
  const service = await startService(readConfig({ ...env, ROLES: 'projections' }));
  const receiverAddress = privateKeyToAddress(env['TREASURY_PRIVATE_KEY'] as `0x${string}`);
  const { wallet } = await seed(service, undefined, {
    webhookUrl: 'https://shop.example/hook',
    merchantWallet: { chainId: 8453, receiverAddress },
  });
  await service.stop();
  return wallet.adminKey;
}
