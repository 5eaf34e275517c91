import { statfsSync } from 'node:fs';

/** How much the node takes on of what clients ask for. docs/reference/limits.md lists them. */

/** Parts of one request that become objects. The official client's largest, three MiB of the smallest events, has fewer. */
export const partsMost = 524_288;

/** All of an append: its data, for which EventStoreDB has a bound of its own, and metadata and types as well. */
export const appendMost_bytes = 16 * 1024 * 1024;

/** Appends of one call that are not whole yet. */
export const pendingMost = 1_024;
export const pendingMost_bytes = 64 * 1024 * 1024;
export const pendingMost_ms = 2_000;

/** Changes that wait to be written. */
export const queuedMost = 8_192;
export const queuedMost_bytes = 64 * 1024 * 1024;

/** One page of a read: it ends with the record that reaches the size. A reader that waits holds no more. */
export const pageMost = 256;
export const pageMost_bytes = 262_144;

/** What one call may have waiting for a slow client: beyond either it writes no further message. */
export const unsentMost = 256;
export const unsentMost_bytes = 262_144;

export const prefixesMost = 1_000;

/** Calls that filter by regular expressions at a time, and how long one page may take an expression. */
export const expressionsMost = 16;
export const expressionMost_ms = 2_000;

/** One group commit fits into it several times: the disk is called full before a write fails. */
export const roomLeast_bytes = 32 * 1024 * 1024;

/** How long a node may be busy without an answer before it is killed and started again. */
export const silenceMost_ms = 5_000;

/** Nothing can be written now, and nothing was: the message names the directory and the cause. */
export class CannotWrite extends Error {
  override readonly name = 'CannotWrite';
  readonly directory: string;
  constructor(directory: string, why: string) {
    super(
      `the event store cannot write to ${directory}: ${why}. Nothing was written; reads go on, and so do writes when it can again`,
    );
    this.directory = directory;
  }
}

/** Whether the disk takes what is to be written. */
export interface Room {
  /** @throws CannotWrite while the disk is full, and for a moment after a write has failed */
  mustBeThere(): void;
  /** Tell that a write failed. @returns what to answer */
  failed(cause: unknown): CannotWrite;
  /** Tell that a write is on disk. */
  written(): void;
  /** Tells of a change while nobody writes. To be called now and then. */
  look(): void;
}

export interface RoomOptions {
  readonly directory: string;
  /** Told once when writing is no longer possible, and with null once when it is again. */
  readonly onChange: (trouble: CannotWrite | null) => void;
  /** What the file system of a directory has left for us, in bytes. */
  readonly freeBytes?: (directory: string) => number;
  /** Milliseconds of a clock that only goes forward. */
  readonly now?: () => number;
}

const lookAgain_ms = 100;
const tryAgain_ms = 500;
/** A disk that failed without being full is believed again after a while: whoever keeps away from it would never see it mended. */
const believedAgain_ms = 30_000;

function freeOnDisk(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}

/** Looks before it is written, because a full disk is told by errors that do not say so. */
export function createRoom({
  directory,
  onChange,
  freeBytes = freeOnDisk,
  now = () => performance.now(),
}: RoomOptions): Room {
  let trouble: CannotWrite | null = null;
  let lookAt_ms = 0;
  let tryAt_ms = 0;
  let believedAt_ms = 0;

  function troubled(why: string): CannotWrite {
    const found = new CannotWrite(directory, why);
    if (!trouble) onChange(found);
    trouble = found;
    return found;
  }

  function well(): void {
    if (trouble) onChange(null);
    trouble = null;
  }

  function shortage(): string | null {
    const free_bytes = freeBytes(directory);
    return free_bytes >= roomLeast_bytes
      ? null
      : `the disk is full (${free_bytes} bytes are free, ${roomLeast_bytes} are needed)`;
  }

  return {
    mustBeThere() {
      if (trouble && now() < tryAt_ms) throw trouble;
      if (now() < lookAt_ms) return;
      const why = shortage();
      if (why !== null) {
        tryAt_ms = now() + lookAgain_ms;
        throw troubled(why);
      }
      lookAt_ms = now() + lookAgain_ms;
    },
    failed(cause) {
      lookAt_ms = 0;
      tryAt_ms = now() + tryAgain_ms;
      believedAt_ms = now() + believedAgain_ms;
      return troubled(shortage() ?? (cause instanceof Error ? cause.message : String(cause)));
    },
    written: well,
    look() {
      const why = shortage();
      if (why !== null) troubled(why);
      else if (now() >= believedAt_ms) well();
    },
  };
}
