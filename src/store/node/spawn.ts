import { setTimeout as sleep } from 'node:timers/promises';
import { within } from '../hearing.ts';
import { silenceMost_ms } from './bounds.ts';
import { damageOf, type Exit, exited, type NodeMessage, NodeNotStarted, type Running, startChild } from './child.ts';
import { watchLiveness } from './liveness.ts';
import { type Tell, tellingOnce, troubleOf } from './trouble.ts';

export { NodeNotStarted } from './child.ts';

/** How a node was lost. */
export interface Loss extends Exit {
  /** It did not answer any more, and was killed for it. */
  readonly silent: boolean;
}

export interface SpawnOptions {
  readonly dataDir: string;
  /** A port on loopback that every user of the machine can reach, 0 takes a free one; it is kept when the node has to be restarted. */
  readonly port?: number;
  /** How long to wait for a node that has lost its parent and still holds the directory: it ends by itself. */
  readonly patience_ms?: number;
  /** How long a node may be busy without an answer before it is killed and started again. */
  readonly silence_ms?: number;
  /** Called when the node has ended unasked, before it is started again. */
  readonly onLost?: (loss: Loss) => void;
  /** Told of what an operator must know. */
  readonly onTrouble?: Tell;
}

export interface EmbeddedNode {
  readonly url: string;
  /** Of the child process that runs now. */
  readonly pid: number;
  stop(): Promise<void>;
}

const stop_ms = 5_000;
const defaults = { port: null, patience_ms: 10_000, silence_ms: silenceMost_ms };
const restartPause_ms = { first: 100, most: 5_000 };
/** A node that lived so long did not die of its start. */
const longLife_ms = 30_000;

/**
 * Runs the embedded node as a child process. Should it end unasked, or not answer any more, it is started again at the same
 * address. It ends when this process does.
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
