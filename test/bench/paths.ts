/** Counts the product's files that run for a payment: its creation, a payin on Base until its webhook, and the payout until its webhook. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Asked, createPayment, payEach, untilPaidOut } from './payments.ts';
import { type Server, startServer } from './servers.ts';
import { table } from './table.ts';
import { type BenchWorld, openWorld } from './world.ts';

const product = /^(domain|commands|projections|queries|src|web|tools)\//;
const preload = fileURLToPath(new URL('touchedFiles.ts', import.meta.url));
const poll_ms = 20;
const tries = 500;
/** Background work, such as news of the payment before, runs in some of the creates. */
const creates = 8;
const betweenCreates_ms = 300;
/** Number of polls in three minutes. */
const webhookTries = 9_000;

interface Webhook {
  readonly type: string;
  readonly data: { readonly id: string };
}

/** A measured process, and its files of which a function ran since the previous call. */
interface Measured extends Server {
  touched(): Promise<readonly string[]>;
}

/** @returns a table of counts, then the files of each path by folder */
export async function benchPaths(): Promise<string> {
  const world = await openWorld({ blockTime_s: 0.5 });
  const api = await measured(world, 'api', { ROLES: 'api' });
  const workers = await measured(world, 'workers', { ROLES: 'projections,subscribers' });
  try {
    // The first payment loads and compiles modules.
    await createPayment(world, api.url);
    await untilPaidOut(world, [await paid(world, api)]);
    // The first one after a pause reads the nodes' fees again; the next 15 s use them.
    const rested = await during(api, () => createPayment(world, api.url));
    const create = await repeated(creates, () => during(api, () => createPayment(world, api.url)));
    const order = create.result;
    const payin = await during(workers, async () => {
      await payEach(world, [order], 0);
      await untilWebhook(world, order, 'payment_payin_completed');
    });
    const payout = await during(workers, async () => {
      await untilPaidOut(world, [order]);
      await untilWebhook(world, order, 'payment_payout_completed');
    });
    const paths = [
      { name: 'create a payment (API process)', server: api, ...create },
      { name: 'create a payment after a pause (API process)', server: api, ...rested },
      { name: 'payin until its webhook (workers process)', server: workers, ...payin },
      { name: 'from there until the webhook of the payout (workers process)', server: workers, ...payout },
    ];
    const rows: string[][] = [];
    for (const { name, server, files, duration_ms } of paths) {
      const idle = new Set((await during(server, () => sleep(duration_ms))).files);
      const own = files.filter((file) => !idle.has(file));
      rows.push([name, String(files.length), String(idle.size), String(own.length)]);
    }
    const lists = paths.map(({ name, files }) => `${name}:\n${files.map((file) => `  ${file}`).join('\n')}`);
    return [table(['path', 'files of the product', 'idle as long', 'of the path alone'], rows), ...lists].join('\n\n');
  } finally {
    await api.stop();
    await workers.stop();
    await world.stop();
  }
}

interface Ran {
  readonly files: readonly string[];
}

/** Returns the files of which a function ran during `work`, and the duration. */
async function during<T>(server: Measured, work: () => Promise<T>) {
  await server.touched();
  const started_ms = performance.now();
  const result = await work();
  const duration_ms = performance.now() - started_ms;
  return { result, duration_ms, files: await server.touched() };
}

/** Returns the last result, with the files that ran in each of the repetitions. */
async function repeated<T>(times: number, work: () => Promise<T & Ran>): Promise<T & Ran> {
  let last = await work();
  for (let done = 1; done < times; done += 1) {
    await sleep(betweenCreates_ms);
    const next = await work();
    last = { ...next, files: next.files.filter((file) => last.files.includes(file)) };
  }
  return last;
}

/** Waits until the receiver's log contains the webhook. */
async function untilWebhook({ dataDir }: BenchWorld, { id }: Asked, wanted: string): Promise<void> {
  const log = join(dataDir, 'webhook.log');
  for (let tried = 0; tried < webhookTries; tried += 1) {
    const lines = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n').filter(Boolean) : [];
    const webhooks = lines.map((line) => JSON.parse((JSON.parse(line) as { readonly body: string }).body) as Webhook);
    if (webhooks.some(({ type, data }) => type === wanted && data.id === id)) return;
    await sleep(poll_ms);
  }
  throw new Error(`payment ${id} had no webhook ${wanted}`);
}

async function paid(world: BenchWorld, api: Server) {
  const order = await createPayment(world, api.url);
  await payEach(world, [order], 0);
  return order;
}

async function measured(world: BenchWorld, name: string, env: Readonly<Record<string, string>>): Promise<Measured> {
  const report = join(world.dataDir, `touched-${name}.json`);
  const flags = `--import ${preload}`;
  const server = await startServer('src/main.ts', {
    ...world.env,
    ...env,
    BENCH_NODE_FLAGS: flags,
    TOUCHED_FILES: report,
  });
  return {
    ...server,
    async touched() {
      rmSync(report, { force: true });
      process.kill(server.pid, 'SIGUSR2');
      for (let tried = 0; !existsSync(report); tried += 1) {
        if (tried >= tries) throw new Error(`${name} did not say which files it ran`);
        await sleep(poll_ms);
      }
      const files = JSON.parse(readFileSync(report, 'utf8')) as readonly string[];
      return files.filter((file) => product.test(file)).toSorted();
    },
  };
}
