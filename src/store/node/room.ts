import { statfsSync } from 'node:fs';

/** Limits of the node on clients' requests. docs/reference/limits.md lists them. */

/** Maximum parts of one request that become objects. The official client's largest, three MiB of the smallest events, has fewer. */
export const partsMost = 524_288;

/** Maximum of a whole append: data, for which EventStoreDB has a separate limit, plus metadata and types. */
export const appendMost_bytes = 16 * 1024 * 1024;

/** Maximum incomplete appends of one call. */
export const pendingMost = 1_024;
export const pendingMost_bytes = 64 * 1024 * 1024;
export const pendingMost_ms = 2_000;

/** Maximum waiting changes. */
export const queuedMost = 8_192;
export const queuedMost_bytes = 64 * 1024 * 1024;

/** Maximum of one page: it ends with the record that reaches the size. A waiting reader holds no more. */
export const pageMost = 256;
export const pageMost_bytes = 262_144;

/** Maximum unsent messages and bytes of one call to a slow client. */
export const unsentMost = 256;
export const unsentMost_bytes = 262_144;

export const prefixesMost = 1_000;

/** Maximum concurrent calls with regular expressions, and maximum time per page. */
export const expressionsMost = 16;
export const expressionMost_ms = 2_000;

/** Several group commits fit into it: the disk counts as full before a write fails. */
export const roomLeast_bytes = 32 * 1024 * 1024;

/** Maximum time that a node may be busy without an answer before it is killed and restarted. */
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

/** Whether the disk accepts writes. */
export interface Room {
  /** @throws CannotWrite while the disk is full, and for a moment after a failed write */
  mustBeThere(): void;
  /** Reports a failed write. @returns the answer */
  failed(cause: unknown): CannotWrite;
  /** Reports that a write is on disk. */
  written(): void;
  /** Detects changes while nobody writes. Called periodically. */
  look(): void;
}

export interface RoomOptions {
  readonly directory: string;
  /** Called once when writing becomes impossible, and with null once it works again. */
  readonly onChange: (trouble: CannotWrite | null) => void;
  /** Free bytes on a directory's file system. */
  readonly freeBytes?: (directory: string) => number;
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
}

const lookAgain_ms = 100;
const tryAgain_ms = 500;
/** Pause after which a disk that failed without being full is tried again: otherwise a repair would go unnoticed. */
const believedAgain_ms = 30_000;

function freeOnDisk(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}

/** Checks before writing, because a full disk causes misleading errors. */
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
