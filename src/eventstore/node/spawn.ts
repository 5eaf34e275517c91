import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { childEnvironment } from '../../runtime/system.ts';
import { reasonOf, within } from '../connection.ts';

/** What the child process says over its channel, once. */
export type NodeMessage =
  | { readonly kind: 'ready'; readonly url: string; readonly port: number }
  | { readonly kind: 'directoryInUse' | 'failed'; readonly message: string };

/** The embedded node could not be started; the message says why and what to do. */
export class NodeNotStarted extends Error {
  override readonly name = 'NodeNotStarted';
  readonly code: 'directoryInUse' | 'failed';
  constructor(code: 'directoryInUse' | 'failed', message: string) {
    super(message);
    this.code = code;
  }
}

export interface SpawnOptions {
  readonly dataDir: string;
  /** 0, the default, takes a free one; it is kept when the node has to be restarted. */
  readonly port?: number;
  /** How long to wait for a node that has lost its parent and still holds the directory: it ends by itself. */
  readonly patience_ms?: number;
  /** Called when the node has ended unasked, before it is started again. */
  readonly onLost?: (exit: { code: number | null; signal: string | null }) => void;
}

export interface EmbeddedNode {
  readonly url: string;
  /** Of the child process that runs now. */
  readonly pid: number;
  stop(): Promise<void>;
}

const start_ms = 20_000;
const stop_ms = 5_000;
const defaultPatience_ms = 10_000;
const restartPause_ms = { first: 100, most: 5_000 };
const program = fileURLToPath(new URL('./main.ts', import.meta.url));
/** What an append or a read makes is short-lived: with more room the collector hardly ever copies it. */
const youngGeneration = ['--max-semi-space-size=64'];

interface Running {
  readonly child: ChildProcess;
  readonly url: string;
  readonly port: number;
}

/**
 * Runs the embedded node as a child process and, should it end unasked, starts it again on the same port. It ends when this
 * process does.
 * @throws NodeNotStarted
 */
export async function spawnEmbeddedNode(options: SpawnOptions): Promise<EmbeddedNode> {
  const { dataDir, patience_ms = defaultPatience_ms, onLost } = options;
  const stopping = new AbortController();
  let running = await startChild(dataDir, options.port ?? 0, patience_ms);
  const supervision = supervise();

  async function supervise(): Promise<void> {
    for (;;) {
      const [code, signal] = (await exited(running.child)) as [number | null, string | null];
      if (stopping.signal.aborted) return;
      onLost?.({ code, signal });
      const restarted = await restart(running.port);
      if (!restarted) return;
      running = restarted;
      if (stopping.signal.aborted) running.child.disconnect();
    }
  }

  async function restart(port: number): Promise<Running | null> {
    for (let pause_ms = restartPause_ms.first; !stopping.signal.aborted; pause_ms *= 2) {
      try {
        return await startChild(dataDir, port, patience_ms);
      } catch {
        const next_ms = Math.min(pause_ms, restartPause_ms.most);
        await sleep(next_ms, undefined, { signal: stopping.signal }).catch(() => {});
      }
    }
    return null;
  }

  return {
    url: running.url,
    get pid() {
      return running.child.pid ?? 0;
    },
    async stop() {
      stopping.abort();
      const { child } = running;
      if (child.connected) child.disconnect();
      await within(supervision, stop_ms, 'stopping the embedded event store').catch(() => child.kill('SIGKILL'));
      await supervision;
    },
  };
}

async function startChild(dataDir: string, port: number, patience_ms: number): Promise<Running> {
  const child = fork(program, [dataDir, String(port), String(patience_ms)], {
    execArgv: youngGeneration,
    env: childEnvironment(),
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    // In a process group of its own a signal to the parent's group, as Ctrl-C sends it, does not reach it even at its start.
    detached: true,
  });
  const silent = exited(child).then(
    ([code]): NodeMessage => ({
      kind: 'failed',
      message: `the embedded event store ended with code ${code} at its start`,
    }),
  );
  const told = once(child, 'message').then(([message]) => message as NodeMessage);
  try {
    const what = 'starting the embedded event store';
    const message = await within(Promise.race([told, silent]), start_ms + patience_ms, what);
    if (message.kind !== 'ready') throw new NodeNotStarted(message.kind, message.message);
    return { child, url: message.url, port: message.port };
  } catch (error) {
    child.kill('SIGKILL');
    if (error instanceof NodeNotStarted) throw error;
    throw new NodeNotStarted('failed', reasonOf(error));
  }
}

/** Resolves with exit code and signal, also when the child has ended already. */
function exited(child: ChildProcess): Promise<[number | null, string | null]> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve([child.exitCode, child.signalCode]);
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve([code, signal]));
    child.once('error', () => resolve([child.exitCode, child.signalCode]));
  });
}
