/** What a signer signed in one hour of the clock, for its limits after a restart: stream `signingHour-2026-11-22T18`. */
import Type, { type Static } from 'typebox';
import { chainIds } from '../chains.ts';
import { type Decider, type Decision, refuse } from '../decider.ts';
import { Amount, closed, Hash, Id, nullable, oneOf, Text, Time } from '../schema.ts';
import { hour_ms, type Instant, plus } from '../time.ts';

export const signingHourSchemaVersion = 1;

/** Well below what a stream can hold. */
const signedMax = 15_000;

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
export const signingHourOf = hourOf;

/** The streams that hold all of the last sixty minutes. */
export const lastHours = (now: Instant): readonly string[] => [...new Set([hourOf(plus(now, -hour_ms)), hourOf(now)])];

/** Counts a signature before it leaves; `[]` for one that is counted. */
export function countSpending(state: SigningHourState, counted: Counted): Decision<SigningHourEvent> {
  if (state.some(({ hash }) => hash === counted.hash)) return [];
  if (state.length >= signedMax) return refuse('rateLimited', `${signedMax} signatures were made this hour: wait`);
  return [{ type: 'SpendingCounted', data: counted }];
}
