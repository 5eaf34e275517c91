/**
 * What a signer signed in the last hour, for its limits after a restart: a stream for each minute of the clock, `signingHour-2026-11-22T18:05`.
 * Older ones hold an hour each, `signingHour-2026-11-22T18`.
 */
import Type, { type Static } from 'typebox';
import { chainIds } from '../chains.ts';
import { type Decider, type Decision, refuse } from '../decider.ts';
import { Amount, closed, Hash, Id, nullable, oneOf, Text, Time } from '../schema.ts';
import { hour_ms, type Instant, minute_ms, plus } from '../time.ts';

export const signingHourSchemaVersion = 1;

/** In a minute: a hundred a second. */
export const signedMax = 6_000;

export const signingHourEventSchemas = {
  SpendingCounted: Type.Object(
    {
      hash: Hash,
      chainId: oneOf(chainIds),
      reference: Text(200),
      appId: nullable(Id),
      /** Millionths of a dollar. */
      amount_microUsd: Amount,
      /** At most, in smallest units of the chain's coin. */
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

/** The stream that a signature made now belongs to. */
export const signingMinuteOf = (at: Instant): string => at.slice(0, '2026-11-22T18:05'.length);

/** The streams that hold all of the last sixty minutes, also where an older version wrote them. */
export function lastHour(now: Instant): readonly string[] {
  const from = plus(now, -hour_ms);
  const minutes = Array.from({ length: hour_ms / minute_ms + 1 }, (_, n) => signingMinuteOf(plus(from, n * minute_ms)));
  return [...new Set([hourOf(from), hourOf(now), ...minutes])];
}

/** Counts a signature before it leaves; `[]` for one that is counted. */
export function countSpending(state: SigningHourState, counted: Counted): Decision<SigningHourEvent> {
  if (state.some(({ hash }) => hash === counted.hash)) return [];
  if (state.length >= signedMax) return refuse('rateLimited', `${signedMax} signatures were made this minute: wait`);
  return [{ type: 'SpendingCounted', data: counted }];
}
