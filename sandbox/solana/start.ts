/** Starts a local Solana as a child process that may outlive the one that started it. */
import { join } from 'node:path';
import { askNode } from '../askNode.ts';
import { type ProgramOptions, startProgram } from '../startProgram.ts';
import type { SolanaOptions } from './solana.ts';

export interface StartOptions
  extends Pick<SolanaOptions, 'slot_ms' | 'port' | 'stateFile' | 'confirmed_slots' | 'finalized_slots'>,
    Pick<ProgramOptions, 'logFile' | 'detached'> {}

export interface StartedSolana {
  readonly rpcUrl: string;
  readonly wsUrl: string;
  readonly pid: number;
  /** Ends it; all that has landed is on disk. */
  stop(): Promise<void>;
}

const program = join(import.meta.dirname, 'main.ts');

/** Starts the chain and waits until it answers. @throws Error with the log file if it does not */
export async function startSolana(options: StartOptions): Promise<StartedSolana> {
  const { facts, pid, stop } = await startProgram<Pick<StartedSolana, 'rpcUrl' | 'wsUrl'>>({
    what: 'the local Solana',
    program,
    port: options.port ?? 0,
    args: flags(options),
    logFile: options.logFile,
    detached: options.detached,
  });
  return { ...facts, pid, stop };
}

function flags({ slot_ms, stateFile, confirmed_slots, finalized_slots }: StartOptions): string[] {
  const all = ['--slot-ms', String(slot_ms)];
  if (stateFile !== undefined) all.push('--state', stateFile);
  if (confirmed_slots !== undefined) all.push('--confirmed-slots', String(confirmed_slots));
  if (finalized_slots !== undefined) all.push('--finalized-slots', String(finalized_slots));
  return all;
}

/** True if a local Solana answers at a URL: checks that the recorded one still runs. */
export async function solanaAnswers(rpcUrl: string): Promise<boolean> {
  return typeof (await askNode(rpcUrl, 'getGenesisHash')) === 'string';
}
