/** Writes to the log of the embedded node: appends in order, each batch in one commit, and the epoch of each start. */

import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  applyChange,
  type ChangeOutcome,
  createBatch,
  createRecentIds,
  type RecentIds,
  type StreamChange,
  type WriteBatch,
  weightOf,
} from './changes.ts';
import { peekRecord } from './log.ts';
import { Busy } from './messages.ts';
import { CannotWrite, queuedMost, queuedMost_bytes, type Room } from './room.ts';
import type { Storage } from './storage.ts';
import { type Tell, troubleOf } from './trouble.ts';

export interface Writer {
  /**
   * Settles once the change is on disk, or refused. Changes are executed in order of arrival.
   * @throws Busy at once; CannotWrite and Damaged: nothing of it was written; after any other error that is unknown
   */
  submit(change: StreamChange): Promise<ChangeOutcome>;
  /** Resolves when all submitted changes are settled. */
  drained(): Promise<void>;
}

export interface WriterOptions {
  readonly room?: Room;
  /** Receives unexpected errors. */
  readonly tell?: Tell;
}

const endless: Room = {
  mustBeThere() {},
  failed: (cause) => new CannotWrite('memory', String(cause)),
  written() {},
  look() {},
};

interface Waiting {
  readonly change: StreamChange;
  readonly resolve: (outcome: ChangeOutcome) => void;
  readonly reject: (error: unknown) => void;
}

const batchMost = 1_024;
const batchMost_bytes = 8 * 1024 * 1024;

const sizeOf = (change: StreamChange): number => change.events.reduce((sum, event) => sum + weightOf(event), 0);

/**
 * Group commit: while one batch is being written to disk the next one is collected, so a hundred waiting appends cost one flush. Nothing is
 * answered or visible to readers before it is durable; a crash in between loses only unanswered changes, each whole.
 * @param grown signalled after each commit
 */
export function createWriter(
  storage: Storage,
  grown: Bell,
  { room = endless, tell = () => {} }: WriterOptions = {},
): Writer {
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
      room.mustBeThere();
      const { batch, decided } = decide(storage, recent, waiting, tell);
      if (batch.writes.records.length > 0) await write(batch);
      for (const { waiting: one, outcome } of decided) one.resolve(outcome);
      grown.ring();
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  async function write(batch: WriteBatch): Promise<void> {
    const { position } = storage.ends();
    try {
      await storage.commit(batch.writes);
      room.written();
    } catch (error) {
      recent.forgetAll();
      if (endsAt(storage, position)) throw room.failed(error);
      tell({ kind: 'broken', message: `a commit failed half-way (${error instanceof Error ? error.message : error})` });
      throw error;
    }
  }

  async function run(): Promise<void> {
    // Requests of one packet belong to one batch.
    await nextTurn();
    while (queue.length > 0) await commit(takeBatch());
    running = null;
  }

  return {
    submit(change) {
      if (queue.length >= queuedMost || waiting_bytes >= queuedMost_bytes) return Promise.reject(new Busy());
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

/** Decides each change after the previous ones; one that cannot be decided fails alone. */
function decide(storage: Storage, recent: RecentIds, waiting: readonly Waiting[], tell: Tell) {
  for (let left = waiting; ; ) {
    const batch = createBatch(storage, recent, Date.now());
    const decided: { readonly waiting: Waiting; readonly outcome: ChangeOutcome }[] = [];
    const failed = left.find((one) => {
      try {
        decided.push({ waiting: one, outcome: applyChange(batch, recent, one.change) });
        return false;
      } catch (error) {
        tell(troubleOf(error));
        one.reject(error);
        return true;
      }
    });
    if (!failed) return { batch, decided };
    recent.forgetAll();
    left = left.filter((one) => one !== failed);
  }
}

/** True if the log still ends there. After a failure during a commit LMDB cannot even read. */
function endsAt(storage: Storage, position: number): boolean {
  try {
    return storage.ends().position === position;
  } catch {
    return false;
  }
}

/** Notifies all listeners of an event; they query its content themselves. */
export interface Bell {
  ring(): void;
  /** @returns function that stops listening */
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

const epochStream = '$epoch-information';

/** True for a record that no reader of the whole log gets. Such a record counts for checkpoints and is a position to continue from. */
export const isHidden = (record: Buffer): boolean => peekRecord(record, 'stream') === epochStream;

/**
 * Appends the epoch of one start. Resolves when it is on disk. The real server appends an event to the stream `$epoch-information` at each
 * start and after each election. A read of that stream returns the events. Reads of the whole log and subscriptions never do, although the
 * events have positions there.
 * @throws CannotWrite, Damaged: nothing was written
 */
export async function writeEpoch(storage: Storage, writer: Writer): Promise<void> {
  await writer.submit(epochChange(storage));
}

function epochChange(storage: Storage): StreamChange {
  const head = storage.head(epochStream);
  const last = head?.last ?? -1;
  const epoch = {
    epochPosition: storage.ends().position,
    epochNumber: last + 1,
    epochId: randomUUID(),
    prevEpochPosition: (head && storage.positionAt(head.id, last)) ?? -1,
    timeStamp: new Date().toISOString(),
    leaderInstanceId: randomUUID(),
  };
  return {
    kind: 'append',
    stream: epochStream,
    expected: 'any',
    events: [
      {
        id: randomUUID(),
        type: epochStream,
        json: true,
        data: Buffer.from(JSON.stringify(epoch)),
        metadata: new Uint8Array(),
      },
    ],
  };
}
