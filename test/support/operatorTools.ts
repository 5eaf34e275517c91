/** Runs a tool of the operator as its npm script does, with settings of a small installation that pays on Base. */
import { type ChildProcess, execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Database } from '../../src/postgres/database.ts';
import { treasuryKey } from './anvil.ts';
import { onStop } from './hooks.ts';
import { temporaryDirectory } from './temporaryDirectory.ts';
import type { ToolCall, ToolEnd } from './toolHost.ts';

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

/** Programs that this process has started as an operator does. */
const started = new Set<string>();

/**
 * The first run of a tool is a process, as for an operator. Later runs share one process (toolHost.ts), unless they may kill it or need
 * options of node.
 * @param name of the file in `tools`
 */
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
  const call = { program, args, env: { ...own, ...settings } };
  const isHosted = started.has(name) && options.length === 0 && !('CRASH_AT' in env);
  started.add(name);
  const { code, stdout, stderr } = await (isHosted ? runHosted(call) : runAlone(call, options));
  return { code, said: stdout + stderr };
}

function runAlone({ program, args, env }: ToolCall, options: readonly string[]): Promise<ToolEnd> {
  return promisify(execFile)(process.execPath, [...options, program, ...args], { env }).then(
    (ended) => ({ code: 0, ...ended }),
    (ended) => ended,
  );
}

let host: ChildProcess | undefined;
let last: Promise<unknown> = Promise.resolve();

/** Runs the tool after those that were called before it. @throws Error if its process ends without an answer */
function runHosted(call: ToolCall): Promise<ToolEnd> {
  const ended = last.then(() => {
    host ??= startHost();
    return answerOf(host, call);
  });
  last = ended.catch(() => {});
  return ended;
}

function startHost(): ChildProcess {
  const child = fork(fileURLToPath(new URL('./toolHost.ts', import.meta.url)));
  child.once('exit', () => {
    if (host === child) host = undefined;
  });
  onStop(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  return child;
}

function answerOf(child: ChildProcess, call: ToolCall): Promise<ToolEnd> {
  return new Promise((resolve, reject) => {
    const dies = (code: number | null) => reject(new Error(`the process of ${call.program} ended with ${code}`));
    child.once('exit', dies);
    child.once('message', (end: ToolEnd) => {
      child.off('exit', dies);
      resolve(end);
    });
    child.send(call);
  });
}
