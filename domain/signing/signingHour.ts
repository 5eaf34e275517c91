/**
 * Signed amounts of the last hour, for the signer's limits after a restart: one stream per minute, `signingHour-2026-11-22T18:05`. Older
 * streams hold an hour each, `signingHour-2026-11-22T18`.
 */
import Type, { type Static } from 'typebox';
import { chainIds } from '../chains.ts';
import { type Decider, type Decision, refuse } from '../decider.ts';
import { Amount, closed, Hash, Id, nullable, oneOf, Text, Time } from '../schema.ts';
import { hour_ms, type Instant, minute_ms, plus } from '../time.ts';

export const signingHourSchemaVersion = 1;

/** Maximum signatures per minute: a hundred per second. */
export const signedMax = 6_000;

export const signingHourEventSchemas = {
  SpendingCounted: Type.Object(
    {
      hash: Hash,
      chainId: oneOf(chainIds),
      reference: Text(200),
      appId: nullable(Id),
      /** In millionths of a dollar. */
      amount_microUsd: Amount,
      /** Maximum, in smallest units of the chain's coin. */
      coin: Amount,
      at: Time,
    },
    closed,
  ),
} as const;

export type SigningHourEvent = {
  readonly type: 'SpendingCounted';
  readonly data: Static<(typeof signingHourEventSchemas)['SpendingCounted']>;
};
export type Counted = SigningHourEvent['data'];
export type SigningHourState = readonly Counted[];

export const signingHour: Decider<SigningHourState, SigningHourEvent> = {
  category: 'signingHour',
  initial: [],
  evolve: (state, { data }) => [...state, data],
};

const hourOf = (at: Instant): string => at.slice(0, '2026-11-22T18'.length);

/** Stream of a signature made now. */
export const signingMinuteOf = (at: Instant): string => at.slice(0, '2026-11-22T18:05'.length);

/** Streams that hold the last sixty minutes, including those of older versions. */
export function lastHour(now: Instant): readonly string[] {
  const from = plus(now, -hour_ms);
  const minutes = Array.from({ length: hour_ms / minute_ms + 1 }, (_, n) => signingMinuteOf(plus(from, n * minute_ms)));
  return [...new Set([hourOf(from), hourOf(now), ...minutes])];
}

/** Counts a signature before it is returned; `[]` if it is counted. */
export function countSpending(state: SigningHourState, counted: Counted): Decision<SigningHourEvent> {
  if (state.some(({ hash }) => hash === counted.hash)) return [];
  if (state.length >= signedMax) return refuse('rateLimited', `${signedMax} signatures were made this minute: wait`);
  return [{ type: 'SpendingCounted', data: counted }];
}
