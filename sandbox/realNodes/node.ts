/** Starts a real chain node as a child process that may outlive the one that started it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { childEnvironment } from '../../src/process/system.ts';
import { openLog } from '../logFile.ts';

export interface NodeOptions {
  readonly program: string;
  readonly args: readonly string[];
  /** Receives all that the node prints. */
  readonly logFile: string;
  readonly isReady: () => Promise<boolean>;
  readonly detached?: boolean;
}

export interface StartedNode {
  readonly pid: number;
  /** Sends SIGTERM and resolves when the node has ended. Its chain is kept. */
  stop(): Promise<void>;
}

const ready_ms = 180_000;
const poll_ms = 100;
const pidPolls = 100;
/** Each program unpacks its node once; all data directories and spec processes use the same copy. */
const unpacked = fileURLToPath(new URL('../../node_modules/.cache/nodes', import.meta.url));

/** The environment that the start programs run in. A part of a Stellar network that has ended starts again after a second. */
export function nodeEnvironment(): NodeJS.ProcessEnv {
  mkdirSync(unpacked, { recursive: true });
  return {
    ...childEnvironment(),
    GETH_HOME: unpacked,
    SOLANA_HOME: unpacked,
    STELLAR_HOME: unpacked,
    RESTART_AFTER: '1',
  };
}

/** Starts a node and waits until it answers. @throws Error when the node ends first or is not ready within 3 minutes */
export async function startNode(options: NodeOptions): Promise<StartedNode> {
  const { program, args, logFile, isReady, detached = false } = options;
  const log = openLog(logFile);
  const child = spawn(program, args, { env: nodeEnvironment(), stdio: ['ignore', log, log], detached });
  closeSync(log);
  const ended = once(child, 'exit');
  const isAlive = () => child.exitCode === null && child.signalCode === null;
  for (const until_ms = performance.now() + ready_ms; !(await isReady()); await sleep(poll_ms)) {
    if (!isAlive()) throw new Error(`${program} ended before its node was ready: see ${logFile}`);
    if (performance.now() < until_ms) continue;
    child.kill('SIGTERM');
    throw new Error(`the node of ${program} was not ready within ${ready_ms / 1_000} s: see ${logFile}`);
  }
  if (child.pid === undefined) throw new Error(`${program} started without a process id`);
  if (detached) child.unref();
  return {
    pid: child.pid,
    async stop() {
      child.ref();
      child.kill('SIGTERM');
      if (isAlive()) await ended;
    },
  };
}

/**
 * Reads a process id that a start program writes: it creates the file a moment before it writes the number.
 *
 * @throws Error when the file holds no process id within 10 s
 */
export async function readPid(file: string): Promise<number> {
  for (let poll = 0; poll < pidPolls; poll += 1) {
    const pid = Number(readFileSync(file, 'utf8'));
    // A signal to process 0 would end the caller's own process group.
    if (Number.isInteger(pid) && pid > 0) return pid;
    await sleep(poll_ms);
  }
  throw new Error(`${file} holds no process id`);
}
