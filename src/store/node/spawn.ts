/** Runs the embedded node as a child process: starts it, checks its liveness, and restarts it after a loss. */

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { childEnvironment } from '../../process/system.ts';
import { storeReasonOf } from '../failures.ts';
import { within } from '../read.ts';
import { Damaged } from './environment.ts';
import { silenceMost_ms } from './room.ts';
import { type Tell, type Trouble, tellingOnce, troubleOf } from './trouble.ts';

/** Messages of the child process: the result of its start, then problems, and liveness answers. */
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
  /** Problems found before it was ready. */
  readonly troubles: readonly Trouble[];
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Long enough for a busy machine; a failing child reports, or ends, at once. */
const start_ms = 60_000;
const program = fileURLToPath(new URL('./main.ts', import.meta.url));
/** Appends and reads make short-lived objects: with more room the collector rarely copies them. */
const youngGeneration = ['--max-semi-space-size=64'];

/** @throws NodeNotStarted */
export async function startChild(dataDir: string, port: number | null, patience_ms: number): Promise<Running> {
  const child = fork(program, [dataDir, String(port ?? ''), String(patience_ms)], {
    execArgv: youngGeneration,
    env: childEnvironment(),
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    // In a separate process group a signal to the parent's group, as from Ctrl-C, does not reach it even at its start.
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
    throw new NodeNotStarted('failed', storeReasonOf(error));
  }
}

/** Signals of a process that reads a truncated memory-mapped file. */
const crashes: ReadonlySet<string | null> = new Set(['SIGBUS', 'SIGSEGV', 'SIGABRT']);

/** Damage that an exit reveals, if any. */
export function damageOf(dataDir: string, { signal }: Exit): Damaged | null {
  return crashes.has(signal) ? new Damaged(dataDir, `the process that read it was ended by ${signal}`) : null;
}

function notStarted(dataDir: string, exit: Exit): NodeMessage {
  const damage = damageOf(dataDir, exit);
  if (damage) return { kind: 'notStarted', code: 'damaged', message: damage.message };
  const how = exit.signal ? `by ${exit.signal}` : `with code ${exit.code}`;
  return { kind: 'notStarted', code: 'failed', message: `the embedded event store ended ${how} at its start` };
}

/** Resolves also if the child has ended already. */
export function exited(child: ChildProcess): Promise<Exit> {
  const exit = (): Exit => ({ code: child.exitCode, signal: child.signalCode });
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(exit());
  return new Promise((resolve) => {
    child.once('exit', () => resolve(exit()));
    child.once('error', () => resolve(exit()));
  });
}

const ask_ms = 500;

/**
 * Sends liveness checks to a child over its channel, and calls `silent` once after several consecutive ones without an answer. Counts
 * checks, not time: a parent that was paused itself has sent none.
 * @param silence_ms maximum time that a child may be busy
 * @returns function that stops watching
 */
export function watchLiveness(child: ChildProcess, silence_ms: number, silent: () => void): () => void {
  const most = Math.ceil(silence_ms / ask_ms);
  let unanswered = 0;
  const hear = (): void => {
    unanswered = 0;
  };
  const timer = setInterval(() => {
    if (unanswered >= most) {
      stop();
      silent();
    } else if (child.connected) {
      unanswered++;
      child.send({ kind: 'areYouThere' }, () => {});
    }
  }, ask_ms);
  function stop(): void {
    clearInterval(timer);
    child.off('message', hear);
  }
  child.on('message', hear);
  child.once('exit', stop);
  return stop;
}

/** Cause of a node's loss. */
export interface Loss extends Exit {
  /** True if it no longer answered and was killed. */
  readonly silent: boolean;
}

export interface SpawnOptions {
  readonly dataDir: string;
  /** A port on loopback that every user of the machine can reach, 0 chooses a free one; it stays the same after a restart. */
  readonly port?: number;
  /** Maximum wait for a node that has lost its parent and still holds the directory, and soon ends. */
  readonly patience_ms?: number;
  /** Maximum time that a node may be busy without an answer before it is killed and restarted. */
  readonly silence_ms?: number;
  /** Called after the node has ended unexpectedly, before it is restarted. */
  readonly onLost?: (loss: Loss) => void;
  /** Receives problems for an operator. */
  readonly onTrouble?: Tell;
}

export interface EmbeddedNode {
  readonly url: string;
  /** Id of the current child process. */
  readonly pid: number;
  stop(): Promise<void>;
}

const stop_ms = 5_000;
const defaults = { port: null, patience_ms: 10_000, silence_ms: silenceMost_ms };
const restartPause_ms = { first: 100, most: 5_000 };
/** A node that lived this long did not fail at its start. */
const longLife_ms = 30_000;

/**
 * Runs the embedded node as a child process. If it ends unexpectedly, or no longer answers, it is restarted at the same address. It ends
 * with this process.
 * @throws NodeNotStarted
 */
export async function spawnEmbeddedNode(options: SpawnOptions): Promise<EmbeddedNode> {
  const { dataDir, port, patience_ms, silence_ms } = { ...defaults, ...options };
  const tell = tellingOnce(options.onTrouble ?? (() => {}));
  const stopping = new AbortController();
  let running = await startChild(dataDir, port, patience_ms);
  const supervision = supervise();

  async function supervise(): Promise<void> {
    for (let pause_ms = 0; ; ) {
      const begun_ms = performance.now();
      const loss = await lost(running);
      if (stopping.signal.aborted) return;
      options.onLost?.(loss);
      const damage = damageOf(dataDir, loss);
      if (damage) tell(troubleOf(damage));
      pause_ms = performance.now() - begun_ms < longLife_ms ? longer(pause_ms) : 0;
      const restarted = await restart(running.port, pause_ms);
      if (!restarted) return;
      running = restarted;
      if (stopping.signal.aborted) running.child.disconnect();
    }
  }

  async function lost({ child, troubles }: Running): Promise<Loss> {
    let silent = false;
    for (const trouble of troubles) tell(trouble);
    child.on('message', (message: NodeMessage) => {
      if (message.kind === 'trouble') tell(message.trouble);
    });
    const stopWatching = watchLiveness(child, silence_ms, () => {
      silent = true;
      child.kill('SIGKILL');
    });
    const exit = await exited(child);
    stopWatching();
    return { ...exit, silent };
  }

  async function restart(onPort: number | null, first_ms: number): Promise<Running | null> {
    for (let pause_ms = first_ms; ; pause_ms = longer(pause_ms)) {
      await sleep(pause_ms, undefined, { signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted) return null;
      try {
        return await startChild(dataDir, onPort, patience_ms);
      } catch (error) {
        if (!(error instanceof NodeNotStarted)) throw error;
        const kind = error.code === 'damaged' ? 'damaged' : 'failed';
        tell({ kind, directory: dataDir, message: error.message });
      }
    }
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

const longer = (pause_ms: number): number =>
  Math.min(Math.max(pause_ms * 2, restartPause_ms.first), restartPause_ms.most);
