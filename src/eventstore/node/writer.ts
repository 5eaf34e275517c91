import { setImmediate as nextTurn } from 'node:timers/promises';
import { createBatch, weightOf } from './batch.ts';
import { applyChange, type Change, type Outcome } from './changes.ts';
import { Busy } from './problems.ts';
import { createRecentIds } from './recentIds.ts';
import type { Storage } from './storage.ts';

export interface Writer {
  /**
   * Settles once the change is on disk, or refused. Changes are executed in the order they come in.
   * @throws Busy at once; any other error means the group commit failed and nothing of it was written
   */
  submit(change: Change): Promise<Outcome>;
  /** Resolves when all that was submitted is settled. */
  drained(): Promise<void>;
}

interface Waiting {
  readonly change: Change;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

const waitingMost = 8_192;
const waitingMost_bytes = 64 * 1024 * 1024;
const batchMost = 1_024;
const batchMost_bytes = 8 * 1024 * 1024;

const sizeOf = (change: Change): number => change.events.reduce((sum, event) => sum + weightOf(event), 0);

/**
 * Group commit: while one batch is being written to disk the next one gathers, so a hundred waiting appends cost one
 * flush. Nothing is answered or shown to readers before it is durable; a crash in between loses only unanswered changes,
 * each whole.
 * @param grown rung after each commit
 * @param report told of each commit that failed
 */
export function createWriter(storage: Storage, grown: Bell, report: (failure: unknown) => void = () => {}): Writer {
  const recent = createRecentIds();
  const queue: Waiting[] = [];
  let waiting_bytes = 0;
  let running: Promise<void> | null = null;

  function takeBatch(): Waiting[] {
    let bytes = 0;
    let count = 0;
    while (count < Math.min(queue.length, batchMost) && (count === 0 || bytes < batchMost_bytes)) {
      bytes += sizeOf((queue[count] as Waiting).change);
      count++;
    }
    waiting_bytes -= bytes;
    return queue.splice(0, count);
  }

  async function commit(waiting: readonly Waiting[]): Promise<void> {
    try {
      const batch = createBatch(storage, recent, Date.now());
      const outcomes = waiting.map(({ change }) => applyChange(batch, recent, change));
      if (batch.writes.records.length > 0) await storage.commit(batch.writes);
      waiting.forEach(({ resolve }, i) => {
        resolve(outcomes[i] as Outcome);
      });
      grown.ring();
    } catch (error) {
      report(error);
      recent.forgetAll();
      for (const { reject } of waiting) reject(error);
    }
  }

  async function run(): Promise<void> {
    // Requests that arrived in one packet belong into one batch.
    await nextTurn();
    while (queue.length > 0) await commit(takeBatch());
    running = null;
  }

  return {
    submit(change) {
      if (queue.length >= waitingMost || waiting_bytes >= waitingMost_bytes) return Promise.reject(new Busy());
      return new Promise((resolve, reject) => {
        waiting_bytes += sizeOf(change);
        queue.push({ change, resolve, reject });
        running ??= run();
      });
    },
    async drained() {
      await running;
    },
  };
}

/** Tells everyone who listens that something has happened; what, they look up themselves. */
export interface Bell {
  ring(): void;
  /** @returns how to stop listening */
  listen(listener: () => void): () => void;
}

export function createBell(): Bell {
  const listeners = new Set<() => void>();
  return {
    ring() {
      for (const listener of listeners) listener();
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
