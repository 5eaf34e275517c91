/** Starts a local Stellar as a child process that may outlive the one that started it. */
import { join } from 'node:path';
import { askNode } from '../askNode.ts';
import { type ProgramOptions, startProgram } from '../startProgram.ts';
import type { LedgerPace } from './stellar.ts';

export interface StartOptions extends Pick<ProgramOptions, 'logFile' | 'detached'> {
  readonly ledger_ms: LedgerPace;
  /** Default: a free one. */
  readonly port?: number;
  /** State file between starts. Default: in memory only. */
  readonly stateFile?: string;
  /** Default: the public network's, so USDC has its production contract id. */
  readonly networkPassphrase?: string;
}

export interface StartedStellar {
  readonly rpcUrl: string;
  readonly networkPassphrase: string;
  readonly pid: number;
  /** Ends it; closed ledgers are on disk. */
  stop(): Promise<void>;
}

const program = join(import.meta.dirname, 'main.ts');

/** Starts the chain and waits until it answers. @throws Error when it does not; the message names the log */
export async function startStellar(options: StartOptions): Promise<StartedStellar> {
  const { facts, pid, stop } = await startProgram<Pick<StartedStellar, 'rpcUrl' | 'networkPassphrase'>>({
    what: 'the local Stellar',
    program,
    port: options.port ?? 0,
    args: flags(options),
    logFile: options.logFile,
    detached: options.detached,
  });
  return { ...facts, pid, stop };
}

function flags({ ledger_ms, stateFile, networkPassphrase }: StartOptions): string[] {
  const all = ['--ledger-ms', String(ledger_ms)];
  if (stateFile !== undefined) all.push('--state', stateFile);
  if (networkPassphrase !== undefined) all.push('--passphrase', networkPassphrase);
  return all;
}

/** True if a local Stellar answers at a URL. */
export async function stellarAnswers(rpcUrl: string): Promise<boolean> {
  const health = (await askNode(rpcUrl, 'getHealth')) as { readonly status?: string } | undefined;
  return health?.status === 'healthy';
}
