/** Starts a local Stellar as a child process that may outlive the one that started it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { childEnvironment } from '../../src/runtime/childEnvironment.ts';
import type { LedgerPace } from './stellar.ts';

export interface StartOptions {
  readonly ledger_ms: LedgerPace;
  /** A free one when left out. */
  readonly port?: number;
  /** Where the chain lives between starts; in memory only when left out. */
  readonly stateFile?: string;
  /** The public network's when left out, so that USDC has its production contract id. */
  readonly networkPassphrase?: string;
  /** Receives its complaints; they go to this process's errors when left out. */
  readonly logFile?: string;
  /** Let it run on when this process ends: its pid must then be recorded by the caller. */
  readonly detached?: boolean;
}

export interface StartedStellar {
  readonly rpcUrl: string;
  readonly networkPassphrase: string;
  readonly pid: number;
  /** Ends it; what has closed is on disk. */
  stop(): Promise<void>;
}

const program = join(import.meta.dirname, 'main.ts');

/** Starts the chain and waits until it answers. @throws Error when it does not, with where to look */
export async function startStellar(options: StartOptions): Promise<StartedStellar> {
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
  const started = ready?.[0] as Pick<StartedStellar, 'rpcUrl' | 'networkPassphrase'> | undefined;
  if (!started || child.pid === undefined) {
    const look = logFile ? `see ${logFile}` : 'see what it said above';
    throw new Error(`the local Stellar did not start on port ${options.port ?? 0}: ${look}`);
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

function flags({ ledger_ms, port = 0, stateFile, networkPassphrase, detached }: StartOptions): string[] {
  const all = ['--ledger-ms', String(ledger_ms), '--port', String(port)];
  if (stateFile !== undefined) all.push('--state', stateFile);
  if (networkPassphrase !== undefined) all.push('--passphrase', networkPassphrase);
  if (detached) all.push('--detached');
  return all;
}

/** Whether a local Stellar answers at a URL: tells a caller whether the one that it recorded still runs. */
export async function stellarAnswers(rpcUrl: string): Promise<boolean> {
  try {
    const response = await fetch(rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getHealth' }),
      signal: AbortSignal.timeout(1_000),
    });
    const { result } = (await response.json()) as { result?: { status?: string } };
    return result?.status === 'healthy';
  } catch {
    return false;
  }
}
