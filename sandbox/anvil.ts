/** A local EVM chain: the real anvil binary as a child process that may outlive the one that started it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, copyFileSync, existsSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { childEnvironment } from '../src/process/system.ts';
import { askNode } from './askNode.ts';
import { freePort } from './freePort.ts';
import { openLog } from './logFile.ts';

const host = '127.0.0.1';
/** Allows for a busy laptop; a chain that ended is reported at once. */
const ready_ms = 60_000;
const stop_ms = 10_000;
const poll_ms = 20;
const launchesMax = 3;
/** Seconds between dumps of the chain to disk: what a kill -9 of the chain can lose. A large file is written less often. */
const dumpEvery_s = 5;
const dumpEveryPerMB_s = 0.5;

export interface AnvilOptions {
  readonly chainId: number;
  /** Default: a free port. */
  readonly port?: number;
  /** State file between starts. Default: in memory only. */
  readonly stateFile?: string;
  /** Seconds between blocks, fractions allowed. `manual`: only `anvil_mine` makes blocks. `instant`: each transaction makes one. */
  readonly mining: { readonly blockTime_s: number } | 'manual' | 'instant';
  /** `safe` is this many blocks behind the head and `finalized` twice as many. */
  readonly slotsInEpoch?: number;
  /**
   * Number of newest blocks with full account state; older ones only have blocks, transactions, receipts and logs. Default: about 1,500.
   * Only for block times of at least 3 seconds, because anvil overrules it for shorter ones.
   */
  readonly statesMax?: number;
  /** Receives errors. Default: none. */
  readonly logFile?: string;
  /** Keeps it running when this process ends: the caller must then record its pid. */
  readonly detached?: boolean;
}

export interface Anvil {
  readonly chainId: number;
  readonly rpcUrl: string;
  readonly pid: number;
  /** Ends it and waits until its state is on disk. */
  stop(): Promise<void>;
}

/** Starts a chain and waits until it answers. @throws after 15 seconds, with the log file to read */
export async function startAnvil(options: AnvilOptions): Promise<Anvil> {
  const { stateFile } = options;
  const saved = stateFile && existsSync(stateFile);
  try {
    const anvil = await launch(options);
    if (saved) copyFileSync(stateFile, previous(stateFile));
    return anvil;
  } catch (error) {
    if (!saved || isWhole(stateFile) || !existsSync(previous(stateFile))) throw error;
    // A kill -9 in the middle of a dump left half a file: continues from the copy of the last good start.
    renameSync(stateFile, `${stateFile}.broken`);
    copyFileSync(previous(stateFile), stateFile);
    return launch(options);
  }
}

/** Removes a stopped chain's files. */
export function forgetAnvil(stateFile: string): void {
  for (const file of [stateFile, previous(stateFile), `${stateFile}.broken`]) rmSync(file, { force: true });
}

function isWhole(stateFile: string): boolean {
  try {
    JSON.parse(readFileSync(stateFile, 'utf8'));
    return true;
  } catch {
    return false;
  }
}

const previous = (stateFile: string) => `${stateFile}.previous`;

/** Another program may take a free port before the chain does. */
async function launch(options: AnvilOptions): Promise<Anvil> {
  if (options.port !== undefined) return launchOn(options.port, options);
  for (let tries = 1; tries < launchesMax; tries += 1) {
    const anvil = await launchOn(await freePort(), options).catch(() => undefined);
    if (anvil) return anvil;
  }
  return launchOn(await freePort(), options);
}

async function launchOn(port: number, options: AnvilOptions): Promise<Anvil> {
  const rpcUrl = `http://${host}:${port}`;
  const output = options.logFile === undefined ? ('ignore' as const) : openLog(options.logFile);
  const child = spawn(binary(), [...flags(options), '--host', host, '--port', String(port), '--no-cors'], {
    env: childEnvironment(),
    stdio: ['ignore', output, output],
    detached: options.detached ?? false,
  });
  if (typeof output === 'number') closeSync(output);
  if (options.detached) child.unref();
  await untilReady(child, rpcUrl, options);
  if (child.pid === undefined) throw new Error('anvil started without a process id');
  return { chainId: options.chainId, rpcUrl, pid: child.pid, stop: () => stop(child) };
}

function flags({ chainId, mining, stateFile, slotsInEpoch, statesMax }: AnvilOptions): string[] {
  const all = ['--quiet', '--chain-id', String(chainId), '--slots-in-an-epoch', String(slotsInEpoch ?? 2)];
  if (mining === 'manual') all.push('--no-mining');
  else if (mining !== 'instant') all.push('--block-time', String(mining.blockTime_s));
  if (stateFile) all.push('--state', stateFile, '--state-interval', String(dumpInterval_s(stateFile)));
  if (statesMax !== undefined) all.push('--prune-history', String(statesMax));
  return all;
}

function dumpInterval_s(stateFile: string): number {
  const size_MB = existsSync(stateFile) ? statSync(stateFile).size / 2 ** 20 : 0;
  return Math.ceil(dumpEvery_s + size_MB * dumpEveryPerMB_s);
}

/** The binary itself, not the package's JavaScript shim: signals must reach the chain. */
function binary(): string {
  const name = process.platform === 'win32' ? 'anvil.exe' : 'anvil';
  const cpu = { x64: 'amd64', arm64: 'arm64' }[process.arch as 'x64' | 'arm64'] ?? process.arch;
  const platform = `@foundry-rs/anvil-${process.platform}-${cpu}`;
  const shim = createRequire(createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json'));
  try {
    return shim.resolve(`${platform}/bin/${name}`);
  } catch (error) {
    throw new Error(`package ${platform} is not installed: run npm ci on this machine`, { cause: error });
  }
}

async function untilReady(child: ChildProcess, rpcUrl: string, options: AnvilOptions): Promise<void> {
  let ended: string | undefined;
  child.once('error', (error) => {
    ended = error.message;
  });
  child.once('exit', (code, signal) => {
    ended = `exit ${code ?? signal}`;
  });
  for (let waited_ms = 0; waited_ms < ready_ms; waited_ms += poll_ms) {
    if (ended !== undefined) break;
    if (await answers(rpcUrl, options.chainId)) return;
    await sleep(poll_ms);
  }
  child.kill('SIGKILL');
  const look = options.logFile ? `see ${options.logFile}` : 'start it with a logFile to see why';
  throw new Error(`anvil for chain ${options.chainId} did not start on ${rpcUrl} (${ended ?? 'no answer'}): ${look}`);
}

/** True if a chain with this id answers at a URL; also checks that a recorded one still runs. */
export async function answers(rpcUrl: string, chainId: number): Promise<boolean> {
  return Number(await askNode(rpcUrl, 'eth_chainId')) === chainId;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), stop_ms);
  await ended;
  clearTimeout(timer);
}
