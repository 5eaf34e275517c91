/** How many files of the product the two longest paths run through: creating a payment, and a payin on Base until its webhook. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createPayment, payEach, untilPaidOut } from './payments.ts';
import { type Server, startServer } from './servers.ts';
import { table } from './table.ts';
import { type BenchWorld, openWorld } from './world.ts';

const product = /^(domain|commands|projections|queries|src|web|tools)\//;
const preload = fileURLToPath(new URL('touchedFiles.ts', import.meta.url));
const poll_ms = 20;
const tries = 500;

/** A measured process, and the files that it has run a function of since the last call. */
interface Measured extends Server {
  touched(): Promise<readonly string[]>;
}

/** @returns a table of counts, then the files of each path by folder */
export async function benchPaths(): Promise<string> {
  const world = await openWorld({ blockTime_s: 0.5 });
  const api = await measured(world, 'api', { ROLES: 'api' });
  const workers = await measured(world, 'workers', { ROLES: 'projections,subscribers' });
  try {
    // The first ones load and compile; what they run is the same.
    await createPayment(world, api.url);
    await untilPaidOut(world, [await paid(world, api)]);
    await api.touched();
    const order = await createPayment(world, api.url);
    const creating = await api.touched();
    await workers.touched();
    await payEach(world, [order], 0);
    await untilPaidOut(world, [order]);
    const paying = await workers.touched();
    const paths = [
      ['create, the process of the API', creating],
      ['payin until payout and webhooks, the process of the workers', paying],
    ] as const;
    const rows = paths.map(([path, files]) => [path, String(files.length)]);
    const lists = paths.map(([path, files]) => `${path}:\n${files.map((file) => `  ${file}`).join('\n')}`);
    return [table(['path', 'files of the product'], rows), ...lists].join('\n\n');
  } finally {
    await api.stop();
    await workers.stop();
    await world.stop();
  }
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
