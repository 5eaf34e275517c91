/** Runs a tool of the operator as its npm script does, with settings of a small installation that pays on Base. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Database } from '../../src/postgres/database.ts';
import { treasuryKey } from './anvil.ts';
import { temporaryDirectory } from './temporaryDirectory.ts';

export interface Told {
  readonly code: number;
  readonly said: string;
}

export interface ToolRun {
  readonly database: Database;
  readonly env?: Readonly<Record<string, string>>;
  /** Options of node itself. */
  readonly options?: readonly string[];
}

/** @param name of the file in `tools` */
export async function runTool(
  name: string,
  args: readonly string[],
  { database, env = {}, options = [] }: ToolRun,
): Promise<Told> {
  const program = fileURLToPath(new URL(`../../tools/${name}.ts`, import.meta.url));
  const { DATABASE_URL: _, EVENTSTORE_URL: __, ...own } = process.env;
  const settings = {
    MODE: 'sandbox',
    MASTER_KEY: '0123456789abcdef'.repeat(4),
    DATABASE_URL: database.url,
    DATA_DIR: temporaryDirectory(),
    TREASURY_PRIVATE_KEY: treasuryKey,
    CONFIRMATIONS_8453: '2',
    PAYOUT_CONFIRMATIONS_8453: '2',
    LOG_LEVEL: 'silent',
    ...env,
  };
  const ran = promisify(execFile)(process.execPath, [...options, program, ...args], { env: { ...own, ...settings } });
  return ran.then(
    ({ stdout, stderr }) => ({ code: 0, said: stdout + stderr }),
    ({ code, stdout, stderr }) => ({ code, said: stdout + stderr }),
  );
}
