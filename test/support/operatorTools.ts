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

/** @param name of the file in `tools` */
export async function runTool(
  name: string,
  args: readonly string[],
  { database, env = {}, options = [] }: ToolRun,
): Promise<Told> {
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
  const { code, stdout, stderr } = await runToolIn({ ...own, ...settings }, name, args, options);
  return { code, said: stdout + stderr };
}

/** Runs a tool beside a service, with the settings in the service's directory. @param name of the file in `tools` */
export const runToolBeside = (
  dataDir: string,
  name: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<ToolEnd> => runToolIn({ ...process.env, DATA_DIR: dataDir, ...env }, name, args);

/** As `runToolBeside`. @returns what the tool printed @throws Error with its texts if it fails */
export async function outputOfTool(dataDir: string, name: string, ...args: readonly string[]): Promise<string> {
  return succeeded(await runToolBeside(dataDir, name, args)).stdout;
}

/** @throws Error with the texts of a tool that failed */
export function succeeded(end: ToolEnd): ToolEnd {
  if (end.code !== 0) throw new Error(`the tool ended with ${end.signal ?? end.code}: ${end.stdout}${end.stderr}`);
  return end;
}

/** Tools that this process has started as an operator does. */
const started = new Set<string>();

/**
 * Runs a tool with this environment. Its first run is a process, as for an operator. Later runs share one process (toolHost.ts), unless
 * they may kill it or need options of node.
 * @param name of the file in `tools`, or the path of another program such as `sandbox/pay`
 */
export function runToolIn(
  env: NodeJS.ProcessEnv,
  name: string,
  args: readonly string[],
  options: readonly string[] = [],
): Promise<ToolEnd> {
  const path = name.includes('/') ? name : `tools/${name}`;
  const call = { program: fileURLToPath(new URL(`../../${path}.ts`, import.meta.url)), args, env };
  const isHosted = started.has(name) && options.length === 0 && !env['CRASH_AT'];
  started.add(name);
  return isHosted ? runHosted(call) : runAlone(call, options);
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
  // Without a terminal, like the process of a first run.
  const child = fork(fileURLToPath(new URL('./toolHost.ts', import.meta.url)), {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  child.stderr?.pipe(process.stderr, { end: false });
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
    child.send(call, (error) => error && reject(error));
  });
}
