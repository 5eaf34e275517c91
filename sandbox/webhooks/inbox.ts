/** Webhooks in the log of the sandbox's receiver, and which of them the developer's program has accepted. */
import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { writeWhole } from '../../src/lib/writeWhole.ts';
import type { Answered, Received } from './forward.ts';

export interface Inbox {
  /** Number of webhooks refused, or received while nothing listened. */
  waiting(): number;
  /** Hands out those that wait, oldest first. */
  again(hand: Hand): Promise<void>;
  /** Delivers new webhooks in order. */
  next(hand: Hand): Promise<void>;
}

export interface Hand {
  forward(webhook: Received): Promise<Answered>;
  /** Called once the outcome is recorded: a reader of the output may stop this program. */
  tell(webhook: Received, answered: Answered): void;
}

interface Line {
  readonly at: number;
  readonly bytes: number;
}

interface Kept {
  /** Bytes of the log that were read. */
  readonly read: number;
  readonly waiting: readonly Line[];
}

/** Beyond it the oldest are no longer sent again; the log has them. */
const waitingMax = 1_000;
/** Longer than any line: a body has 256 KiB at most, and in JSON six characters for each of its own. */
const chunk_bytes = 2 * 1_024 * 1_024;

/** A first-time listener receives only later webhooks. */
export function openInbox(dataDir: string, log: string): Inbox {
  const file = join(dataDir, 'listen.json');
  let kept: Kept = readKept(file) ?? { read: sizeOf(log), waiting: [] };
  // An emptied log begins again.
  if (kept.read > sizeOf(log)) kept = { read: 0, waiting: [] };
  const keep = (next: Kept) => {
    kept = { ...next, waiting: next.waiting.slice(-waitingMax) };
    writeWhole(file, JSON.stringify(kept));
  };
  for (let lines = linesFrom(log, kept.read); lines.length > 0; lines = linesFrom(log, kept.read)) {
    keep({ read: endOf(lines), waiting: [...kept.waiting, ...lines] });
  }
  keep(kept);

  const handOut = async (line: Line, hand: Hand) => {
    const webhook = received(log, line);
    const answered = await hand.forward(webhook);
    if (answered.taken) keep({ ...kept, waiting: kept.waiting.filter((each) => each !== line) });
    hand.tell(webhook, answered);
  };

  return {
    waiting: () => kept.waiting.length,
    async again(hand) {
      for (const line of kept.waiting) await handOut(line, hand);
    },
    async next(hand) {
      for (const line of linesFrom(log, kept.read)) {
        // It waits until it is known to be accepted: after an interruption it is sent again.
        keep({ read: line.at + line.bytes, waiting: [...kept.waiting, line] });
        await handOut(line, hand);
      }
    },
  };
}

const endOf = (lines: readonly Line[]): number => {
  const last = lines.at(-1);
  return last ? last.at + last.bytes : 0;
};

/** Whole lines, as many as fit into one chunk. */
function linesFrom(log: string, from: number): Line[] {
  const bytes = readAt(log, { at: from, bytes: chunk_bytes });
  const lines: Line[] = [];
  for (let begin = 0, end = bytes.indexOf(10); end >= 0; begin = end + 1, end = bytes.indexOf(10, begin)) {
    lines.push({ at: from + begin, bytes: end + 1 - begin });
  }
  return lines;
}

const received = (log: string, line: Line): Received => JSON.parse(readAt(log, line).toString('utf8'));

function readAt(log: string, { at, bytes }: Line): Buffer {
  const size = Math.max(0, Math.min(bytes, sizeOf(log) - at));
  if (size === 0) return Buffer.alloc(0);
  const descriptor = openSync(log, 'r');
  try {
    const buffer = Buffer.alloc(size);
    return buffer.subarray(0, readSync(descriptor, buffer, 0, size, at));
  } finally {
    closeSync(descriptor);
  }
}

const sizeOf = (log: string): number => statSync(log, { throwIfNoEntry: false })?.size ?? 0;

function readKept(file: string): Kept | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Kept;
  } catch {
    return undefined;
  }
}
