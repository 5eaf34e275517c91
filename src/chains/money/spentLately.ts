/** What was signed in the last hour, with its sums at hand: they are asked for before each signature, and there may be many. */
import type { ChainId } from '../../../domain/chains.ts';
import { hour_ms } from '../../../domain/time.ts';

/** What a transfer that was signed within the hour takes of it. */
export interface Spent {
  readonly chainId: ChainId;
  /** What it was signed for: a payment. */
  readonly reference: string;
  readonly appId: string | null;
  /** In millionths of a dollar. */
  readonly amount: bigint;
  /** Of the chain's coin, in smallest units, at most. */
  readonly coin: bigint;
  readonly at_ms: number;
}

/** In memory, and from the log after a restart. */
export interface SpentLately {
  /** By where it was signed: what shares a nonce lands once. */
  readonly entries: ReadonlyMap<string, Spent>;
  put(key: string, spent: Spent): void;
  forget(key: string): void;
  /** Leaves out what is older than an hour; looks for it once a second. */
  expire(now_ms: number): void;
  /** Adds what the log has and this memory does not. */
  recall(recorded: readonly Spent[]): void;
  /** The sums of all but these, and of what is about to be signed in the same transaction. */
  besides(keys: readonly string[], together?: readonly Spent[]): Sums;
}

export interface Sums {
  readonly count: number;
  /** All dollars, or those of an app, in millionths. */
  usd(by?: { readonly appId: string | null }): bigint;
  /** The coin of a chain, all or an app's, in smallest units. */
  coin(chainId: ChainId, by?: { readonly appId: string | null }): bigint;
}

const expire_ms = 1_000;

export const recalledKey = (reference: string): string => `recalled ${reference}`;

export function createSpentLately(): SpentLately {
  const entries = new Map<string, Spent>();
  const sums = new Map<string, bigint>();
  let expired_ms = Number.NEGATIVE_INFINITY;

  function add(spent: Spent, sign: 1n | -1n): void {
    for (const [name, value] of partsOf(spent)) {
      const sum = (sums.get(name) ?? 0n) + sign * value;
      if (sum === 0n) sums.delete(name);
      else sums.set(name, sum);
    }
  }

  function forget(key: string): void {
    const known = entries.get(key);
    if (!known) return;
    entries.delete(key);
    add(known, -1n);
  }

  function put(key: string, spent: Spent): void {
    forget(key);
    entries.set(key, spent);
    add(spent, 1n);
  }

  return {
    entries,
    put,
    forget,
    expire(now_ms) {
      if (Math.abs(now_ms - expired_ms) < expire_ms) return;
      expired_ms = now_ms;
      for (const [key, { at_ms }] of entries) if (at_ms <= now_ms - hour_ms) forget(key);
    },
    recall(recorded) {
      const known = new Set([...entries.values()].map(({ reference }) => reference));
      for (const spent of recorded) if (!known.has(spent.reference)) put(recalledKey(spent.reference), spent);
    },
    besides(keys, together = []) {
      const out = keys.flatMap((key) => entries.get(key) ?? []);
      const sumOf = (name: string) => (sums.get(name) ?? 0n) - partOf(out, name) + partOf(together, name);
      return {
        count: entries.size - out.length + together.length,
        usd: (by) => sumOf(usdOf(by)),
        coin: (chainId, by) => sumOf(coinOf(chainId, by)),
      };
    },
  };
}

type By = { readonly appId: string | null } | undefined;

/** Nobody's money has no app's name, and no app's name is empty. */
const suffix = (by: By): string => (by ? ` of ${by.appId ?? ''}` : '');
const usdOf = (by?: By): string => `usd${suffix(by)}`;
const coinOf = (chainId: ChainId, by?: By): string => `coin ${chainId}${suffix(by)}`;

const partOf = (all: readonly Spent[], name: string): bigint =>
  all.flatMap(partsOf).reduce((sum, [part, value]) => (part === name ? sum + value : sum), 0n);

/** Each sum that it is part of. */
const partsOf = (spent: Spent): readonly (readonly [string, bigint])[] => [
  [usdOf(), spent.amount],
  [usdOf(spent), spent.amount],
  [coinOf(spent.chainId), spent.coin],
  [coinOf(spent.chainId, spent), spent.coin],
];
