/** Costs of an unused sandbox over hours: memory and processor time of each program, and the size of its logs. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { chains } from '../../domain/chains.ts';
import { readSandboxFile } from '../../sandbox/sandboxFile.ts';
import { childrenOf, cpuSeconds, loadText, memory_MiB, ownCpuSeconds } from './machine.ts';
import { table, whole } from './table.ts';

const start_ms = 120_000;
const poll_ms = 250;
const bytesPerMiB = 2 ** 20;
/** Maximum rows of the table. All samples are printed as they are taken. */
const rowsMost = 14;

/** Process names in the sandbox's records. The samples sum up its EVM chains. */
const evmChains = chains.filter(({ family }) => family === 'evm').map(({ id }) => `chain-${id}`);
const groups: Readonly<Record<string, readonly string[]>> = {
  'EVM chains, their clock': [...evmChains, 'block-clock'],
  Stellar: ['chain-1500'],
  Solana: ['chain-501'],
  Postgres: ['postgres'],
  'event store': ['eventStore'],
  service: ['service'],
  receiver: ['receiver'],
};
const head = [
  'minute',
  ...Object.keys(groups),
  'largest EVM chain',
  'MiB in all',
  'logs MiB',
  'CPU % of a core',
  'of it service',
];

interface Sample {
  readonly minute: number;
  readonly groups_MiB: readonly number[];
  readonly largestChain_MiB: number;
  readonly total_MiB: number;
  readonly logs_MiB: number;
  /** Average since the previous sample. */
  readonly cpu_percent: number;
  readonly service_cpu_percent: number;
}

/** Runs `npm start` on a new folder and sends no requests; prints a sample every minute. Ctrl-C ends the measurement early. */
export async function benchIdle({ minutes }: { readonly minutes: number }): Promise<string> {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  const dataDir = mkdtempSync(join(tmpdir(), 'payment-intents-idle-'));
  const sandbox = await startSandbox(dataDir);
  try {
    const samples: Sample[] = [];
    const take = sampler(dataDir);
    console.log(head.join(' | '));
    for (let minute = 0; minute <= minutes && !stop.signal.aborted; minute++) {
      const sample = take(minute);
      samples.push(sample);
      console.log(cellsOf(sample).join(' | '));
      if (minute < minutes) await sleep(60_000, undefined, { signal: stop.signal }).catch(() => {});
    }
    const every = Math.ceil(samples.length / rowsMost);
    const rows = samples.filter(({ minute }) => minute % every === 0).map(cellsOf);
    return `${table(head, rows)}\nMemory in MiB, what processes share counted once; load of the machine after: ${loadText()}`;
  } finally {
    const ended = once(sandbox, 'exit');
    if (sandbox.exitCode === null && sandbox.kill('SIGINT')) await ended;
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function startSandbox(dataDir: string): Promise<ChildProcess> {
  const program = fileURLToPath(new URL('../../sandbox/start.ts', import.meta.url));
  const sandbox = spawn(process.execPath, ['--max-semi-space-size=16', program], {
    env: { ...process.env, DATA_DIR: dataDir, PORT: '0' },
    stdio: ['ignore', 'ignore', 'inherit'],
    // Ctrl-C reaches only the measurement, which ends the sandbox.
    detached: true,
  });
  for (let waited_ms = 0; !readSandboxFile(dataDir); waited_ms += poll_ms) {
    if (sandbox.exitCode !== null || waited_ms > start_ms) throw new Error('the sandbox did not start');
    await sleep(poll_ms);
  }
  return sandbox;
}

function sampler(dataDir: string): (minute: number) => Sample {
  let before = { cpu_s: Number.NaN, service_s: Number.NaN, at_ms: 0 };
  return (minute) => {
    const programs = programsOf(dataDir);
    const of = (name: string) => (programs.get(name) ?? []).reduce((sum, pid) => sum + memory_MiB(pid), 0);
    const now = {
      cpu_s: cpuSeconds([...programs.values()].flat()),
      service_s: (programs.get('service') ?? []).reduce((sum, pid) => sum + ownCpuSeconds(pid), 0),
      at_ms: performance.now(),
    };
    const used_s = now.cpu_s - before.cpu_s;
    const service_s = now.service_s - before.service_s;
    const passed_s = (now.at_ms - before.at_ms) / 1_000;
    before = now;
    const groups_MiB = Object.values(groups).map((names) => names.reduce((sum, name) => sum + of(name), 0));
    return {
      minute,
      groups_MiB,
      largestChain_MiB: Math.max(...evmChains.map(of)),
      total_MiB: groups_MiB.reduce((sum, used) => sum + used, 0),
      logs_MiB: sizeOf(join(dataDir, 'logs')) / bytesPerMiB,
      cpu_percent: (used_s / passed_s) * 100,
      service_cpu_percent: (service_s / passed_s) * 100,
    };
  };
}

/** Finds the pids of each program again, because a program may have been restarted. Unrecorded children count for their parent. */
function programsOf(dataDir: string): ReadonlyMap<string, readonly number[]> {
  const recorded = JSON.parse(readFileSync(join(dataDir, 'processes.json'), 'utf8')) as Record<string, { pid: number }>;
  const own = new Set(Object.values(recorded).map(({ pid }) => pid));
  const programs = new Map<string, readonly number[]>();
  for (const [name, { pid }] of Object.entries(recorded)) {
    const others = childrenOf(pid).filter((child) => !own.has(child));
    if (name === 'service') programs.set('service', [pid]).set('eventStore', others);
    else programs.set(name, [pid, ...others]);
  }
  return programs;
}

const sizeOf = (folder: string): number =>
  readdirSync(folder).reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);

const cellsOf = (sample: Sample): readonly string[] => [
  String(sample.minute),
  ...[...sample.groups_MiB, sample.largestChain_MiB, sample.total_MiB].map(whole),
  sample.logs_MiB.toFixed(2),
  ...[sample.cpu_percent, sample.service_cpu_percent].map((used) => (Number.isNaN(used) ? '' : used.toFixed(1))),
];
