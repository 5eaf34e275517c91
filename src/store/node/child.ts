import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { childEnvironment } from '../../process/system.ts';
import { reasonOf } from '../failures.ts';
import { within } from '../hearing.ts';
import { Damaged } from './damage.ts';
import type { Trouble } from './trouble.ts';

/** What the child process says over its channel: how its start went, then what is the matter, and that it is there when asked. */
export type NodeMessage =
  | {
      readonly kind: 'ready';
      readonly url: string;
      readonly port: number | null;
      readonly troubles: readonly Trouble[];
    }
  | { readonly kind: 'notStarted'; readonly code: NodeNotStarted['code']; readonly message: string }
  | { readonly kind: 'trouble'; readonly trouble: Trouble }
  | { readonly kind: 'alive' };

/** The embedded node could not be started; the message says why and what to do. */
export class NodeNotStarted extends Error {
  override readonly name = 'NodeNotStarted';
  readonly code: 'directoryInUse' | 'damaged' | 'failed';
  constructor(code: NodeNotStarted['code'], message: string) {
    super(message);
    this.code = code;
  }
}

export interface Running {
  readonly child: ChildProcess;
  readonly url: string;
  /** Null with a socket. */
  readonly port: number | null;
  /** Troubles found before it was ready. */
  readonly troubles: readonly Trouble[];
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A machine that starts everything at once takes its time; a child that fails tells, or ends, at once. */
const start_ms = 60_000;
const program = fileURLToPath(new URL('./main.ts', import.meta.url));
/** What an append or a read makes is short-lived: with more room the collector hardly ever copies it. */
const youngGeneration = ['--max-semi-space-size=64'];

/** @throws NodeNotStarted */
export async function startChild(dataDir: string, port: number | null, patience_ms: number): Promise<Running> {
  const child = fork(program, [dataDir, String(port ?? ''), String(patience_ms)], {
    execArgv: youngGeneration,
    env: childEnvironment(),
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    // In a process group of its own a signal to the parent's group, as Ctrl-C sends it, does not reach it even at its start.
    detached: true,
  });
  const silent = exited(child).then((exit) => notStarted(dataDir, exit));
  const told = once(child, 'message').then(([message]) => message as NodeMessage);
  try {
    const what = 'starting the embedded event store';
    const message = await within(Promise.race([told, silent]), start_ms + patience_ms, what);
    if (message.kind === 'notStarted') throw new NodeNotStarted(message.code, message.message);
    if (message.kind !== 'ready') throw new NodeNotStarted('failed', `${what}: it said ${message.kind} first`);
    return { child, url: message.url, port: message.port, troubles: message.troubles };
  } catch (error) {
    child.kill('SIGKILL');
    if (error instanceof NodeNotStarted) throw error;
    throw new NodeNotStarted('failed', reasonOf(error));
  }
}

/** How a process ends that reads a file which is not as it was: it is mapped into memory. */
const crashes: ReadonlySet<string | null> = new Set(['SIGBUS', 'SIGSEGV', 'SIGABRT']);

/** What an exit tells of the data, if anything. */
export function damageOf(dataDir: string, { signal }: Exit): Damaged | null {
  return crashes.has(signal) ? new Damaged(dataDir, `the process that read it was ended by ${signal}`) : null;
}

function notStarted(dataDir: string, exit: Exit): NodeMessage {
  const damage = damageOf(dataDir, exit);
  if (damage) return { kind: 'notStarted', code: 'damaged', message: damage.message };
  const how = exit.signal ? `by ${exit.signal}` : `with code ${exit.code}`;
  return { kind: 'notStarted', code: 'failed', message: `the embedded event store ended ${how} at its start` };
}

/** Resolves also when the child has ended already. */
export function exited(child: ChildProcess): Promise<Exit> {
  const exit = (): Exit => ({ code: child.exitCode, signal: child.signalCode });
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(exit());
  return new Promise((resolve) => {
    child.once('exit', () => resolve(exit()));
    child.once('error', () => resolve(exit()));
  });
}
