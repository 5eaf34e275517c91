import type { Reader } from './reader.ts';

/** Heads of the log: how often they are signed, and with what. Keys are 32 bytes as hex. */
export interface HeadSettings {
  /** Null: one is derived from the master key. */
  readonly key: string | null;
  /** That of before: it says that the other one follows. */
  readonly oldKey: string | null;
  /** Why nobody has the one of before. */
  readonly lost: string | null;
  /** What comes first of these events and minutes makes the next head. */
  readonly events: number;
  readonly every_min: number;
}

export function readHeads(read: Reader): HeadSettings {
  const key = (name: string) => read.hex(name, /^[0-9a-f]{64}$/, '64 hex digits: `openssl rand -hex 32`');
  return {
    key: key('HEADS_KEY'),
    oldKey: key('HEADS_KEY_OLD'),
    lost: read.text('HEADS_KEY_LOST', '').slice(0, 500) || null,
    events: read.integer('HEADS_EVERY_EVENTS', 10_000, 1, 100_000),
    every_min: read.integer('HEADS_EVERY_MINUTES', 5, 1, 1_440),
  };
}
