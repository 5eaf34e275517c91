/**
 * Runs tools of the operator in one process, one after the other, each as a program: with its own arguments, environment, output and exit
 * code. The modules that tools import are loaded once. `runToolIn` starts this program and sends it a `ToolCall` for each run.
 */
import { pathToFileURL } from 'node:url';

export interface ToolCall {
  /** Path of the program. */
  readonly program: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

export interface ToolEnd {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** The signal that killed the tool. */
  readonly signal?: string | null;
}

const { exit } = process;
const texts = { stdout: '', stderr: '' };
let runs = 0;
let isOver = true;

for (const name of ['stdout', 'stderr'] as const)
  process[name].write = (text: string | Uint8Array, ...rest: readonly unknown[]): boolean => {
    if (!isOver) texts[name] += Buffer.from(text).toString();
    const written = rest.find((each) => typeof each === 'function');
    written?.();
    return true;
  };

/** Ends a tool without ending the process. */
class ToolExit extends Error {}

process.exit = (code?: number | string | null): never => {
  if (!isOver && code !== undefined) process.exitCode = Number(code);
  // The tool may catch and print this error.
  isOver = true;
  throw new ToolExit('the tool has ended');
};

async function run({ program, args, env }: ToolCall): Promise<ToolEnd> {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.argv = [process.execPath, program, ...args];
  process.exitCode = undefined;
  texts.stdout = texts.stderr = '';
  isOver = false;
  let code: number | undefined;
  try {
    runs += 1;
    // Another address is another module: the program runs again, over the same modules of its own.
    await import(`${pathToFileURL(program)}?run=${runs}`);
  } catch (error) {
    if (!(error instanceof ToolExit)) {
      texts.stderr += error instanceof Error ? error.stack : String(error);
      code = 1;
    }
  }
  code ??= Number(process.exitCode ?? 0);
  isOver = true;
  process.exitCode = undefined;
  for (const signal of ['SIGINT', 'SIGTERM']) process.removeAllListeners(signal);
  return { code, ...texts };
}

process.on('disconnect', () => exit());

let last: Promise<unknown> = Promise.resolve();
process.on('message', (call: ToolCall) => {
  last = last.then(async () => process.send?.(await run(call)));
});
