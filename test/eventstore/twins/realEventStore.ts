/** One node of the real EventStoreDB as a process of a spec. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../../sandbox/freePort.ts';
import { onStop } from '../../support/hooks.ts';
import { patience_ms } from '../../support/patience.ts';
import { temporaryDirectory } from '../../support/temporaryDirectory.ts';

/** Path of the program that starts a node; undefined where the machine has none. */
export const realEventStoreProgram = process.env['EVENTSTOREDB'];

export interface RealEventStore {
  readonly url: string;
  readonly port: number;
  /** Resolves when the process has ended. SIGKILL is a crash. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

export interface RealEventStoreOptions {
  /** Data of an earlier node. Default: an empty folder. */
  readonly folder?: string;
  /** Default: a free port. */
  readonly port?: number;
}

/** The server is unpacked once, outside the temporary directory of a single run. */
const home =
  process.env['EVENTSTOREDB_HOME'] ??
  fileURLToPath(new URL('../../../node_modules/.cache/eventstoredb', import.meta.url));
const poll_ms = 100;

/** Resolves when the node leads its cluster of one. */
export async function startRealEventStore(options: RealEventStoreOptions = {}): Promise<RealEventStore> {
  if (realEventStoreProgram === undefined) throw new Error('EVENTSTOREDB names no program that starts a node');
  const { folder = temporaryDirectory(), port = await freePort() } = options;
  const replication = `--replication-port=${await freePort()}`;
  const child = spawn(realEventStoreProgram, [`${port}`, folder, replication, '--chunk-size=33554432'], {
    stdio: 'ignore',
    env: { ...process.env, EVENTSTOREDB_HOME: home },
  });
  const stop = (signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM') => end(child, signal);
  onStop(() => stop('SIGKILL'));
  await leads(child, port);
  return { url: `esdb://127.0.0.1:${port}?tls=false`, port, stop };
}

async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}

async function leads(child: ChildProcess, port: number): Promise<void> {
  for (const until_ms = performance.now() + patience_ms; performance.now() < until_ms; await sleep(poll_ms)) {
    if (child.exitCode !== null) throw new Error(`EventStoreDB ended with code ${child.exitCode} at its start`);
    if (await isLeader(port)) return;
  }
  throw new Error(`EventStoreDB on port ${port} does not lead after ${patience_ms} ms`);
}

async function isLeader(port: number): Promise<boolean> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/gossip`);
    return (await answer.text()).includes('"Leader"');
  } catch {
    return false;
  }
}
