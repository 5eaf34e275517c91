import { type ChainId, chains } from '../../domain/chains.ts';
import type { Reader } from './reader.ts';

/** Heads of the log: their interval and keys. Keys are 32 bytes as hex. */
export interface HeadSettings {
  /** Null: derived from the master key. */
  readonly key: string | null;
  /** Former key, which signs that the new one follows. */
  readonly oldKey: string | null;
  /** Reason why the former key is lost. */
  readonly lost: string | null;
  /** Events or minutes after which the next head is signed, at the earlier of the two. */
  readonly events: number;
  readonly every_min: number;
  /** Interval for anchoring the newest head's hash on that chain; null: never. */
  readonly anchor: { readonly chainId: ChainId; readonly every_hours: number } | null;
}

/** @param served chains with nodes */
export function readHeads(read: Reader, served: ReadonlySet<ChainId>): HeadSettings {
  const key = (name: string) => read.hex(name, /^[0-9a-f]{64}$/, '64 hex digits: `openssl rand -hex 32`');
  const anchor = readAnchor(read, served);
  return {
    key: key('HEADS_KEY'),
    oldKey: key('HEADS_KEY_OLD'),
    lost: read.text('HEADS_KEY_LOST', '').slice(0, 500) || null,
    events: read.integer('HEADS_EVERY_EVENTS', 10_000, 1, 100_000),
    every_min: read.integer('HEADS_EVERY_MINUTES', 5, 1, 1_440),
    anchor,
  };
}

function readAnchor(read: Reader, served: ReadonlySet<ChainId>): HeadSettings['anchor'] {
  const family = read.oneOf('HEADS_ANCHOR', ['off', 'stellar'], 'off');
  const every_hours = read.integer('HEADS_ANCHOR_HOURS', 24, 1, 744);
  const chain = chains.find((each) => each.family === family);
  if (!chain) return null;
  const { id: chainId, name } = chain;
  const why = `HEADS_ANCHOR: ${name} is not configured: set RPC_URLS_${chainId} and its treasury, or unset it`;
  return read.check(served.has(chainId), why) ? { chainId, every_hours } : null;
}
