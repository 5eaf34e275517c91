/** Starts a local Solana as a child process that may outlive the one that started it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { childEnvironment } from '../../src/runtime/childEnvironment.ts';
import type { SolanaOptions } from './solana.ts';

export interface StartOptions
  extends Pick<SolanaOptions, 'slot_ms' | 'port' | 'stateFile' | 'confirmed_slots' | 'finalized_slots'> {
  /** Receives its complaints; they go to this process's errors when left out. */
  readonly logFile?: string;
  /** Let it run on when this process ends: its pid must then be recorded by the caller. */
  readonly detached?: boolean;
}

export interface StartedSolana {
  readonly rpcUrl: string;
  readonly wsUrl: string;
  readonly pid: number;
  /** Ends it; all that has landed is on disk. */
  stop(): Promise<void>;
}

const program = join(import.meta.dirname, 'main.ts');

/** Starts the chain and waits until it answers. @throws Error when it does not, with where to look */
export async function startSolana(options: StartOptions): Promise<StartedSolana> {
  const { detached = false, logFile } = options;
  const errors = logFile === undefined ? ('inherit' as const) : openSync(logFile, 'a');
  const child = spawn(process.execPath, [program, ...flags(options)], {
    detached,
    env: childEnvironment(),
    stdio: ['ignore', 'ignore', errors, 'ipc'],
  });
  if (typeof errors === 'number') closeSync(errors);

  const ended = once(child, 'exit');
  const ready = await Promise.race([once(child, 'message'), ended.then(() => undefined)]);
  const started = ready?.[0] as Pick<StartedSolana, 'rpcUrl' | 'wsUrl'> | undefined;
  if (!started || child.pid === undefined) {
    const look = logFile ? `see ${logFile}` : 'see what it said above';
    throw new Error(`the local Solana did not start on port ${options.port ?? 0}: ${look}`);
  }
  if (detached) child.disconnect();
  child.unref();
  child.channel?.unref();
  return {
    ...started,
    pid: child.pid,
    async stop() {
      child.ref();
      child.kill('SIGTERM');
      await ended;
    },
  };
}

function flags({ slot_ms, port = 0, stateFile, confirmed_slots, finalized_slots, detached }: StartOptions): string[] {
  const all = ['--slot-ms', String(slot_ms), '--port', String(port)];
  if (stateFile !== undefined) all.push('--state', stateFile);
  if (confirmed_slots !== undefined) all.push('--confirmed-slots', String(confirmed_slots));
  if (finalized_slots !== undefined) all.push('--finalized-slots', String(finalized_slots));
  if (detached) all.push('--detached');
  return all;
}

/** Whether a local Solana answers at a URL: tells a caller whether the one that it recorded still runs. */
export async function solanaAnswers(rpcUrl: string): Promise<boolean> {
  try {
    const response = await fetch(rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getGenesisHash' }),
      signal: AbortSignal.timeout(1_000),
    });
    const { result } = (await response.json()) as { result?: unknown };
    return typeof result === 'string';
  } catch {
    return false;
  }
}
