/**
 * Daily withdrawal limit of a single operator. Withdrawals are separate streams and may be ordered concurrently: each reserves its share in
 * the one stream `allowance-treasury` before its order.
 */
import Type, { type Static } from 'typebox';
import { type Decider, type Decision, refuse } from '../decider.ts';
import { unitsText } from '../money.ts';
import { Amount, closed, Id, Time } from '../schema.ts';
import { day_ms, type Instant, isAfter, plus } from '../time.ts';

export const allowanceSchemaVersion = 1;

/** There is one such stream. */
export const allowanceInstance = 'treasury';

export const allowanceEventSchemas = {
  AllowanceTaken: Type.Object({ operationId: Id, value_microUsd: Amount, by: Id, at: Time }, closed),
  AllowanceReturned: Type.Object({ operationId: Id, by: Id, at: Time }, closed),
} as const;

type Schemas = typeof allowanceEventSchemas;
export type AllowanceEvent = {
  [T in keyof Schemas]: { readonly type: T; readonly data: Static<Schemas[T]> };
}[keyof Schemas];

/** The latest events. */
export type AllowanceState = readonly AllowanceEvent[];

export const allowanceWindow = 1_000;

export const allowance: Decider<AllowanceState, AllowanceEvent> = {
  category: 'allowance',
  initial: [],
  window: allowanceWindow,
  evolve: (state, event) => [...state, event].slice(-allowanceWindow),
};

export interface Taking {
  readonly operationId: string;
  /** In millionths of a dollar. */
  readonly value: bigint;
  readonly by: string;
  readonly now: Instant;
}

/**
 * Reserves a withdrawal's share; `[]` if it has one. Above the limit a second operator must approve: refused as forbidden.
 * @param most daily limit in millionths of a dollar
 */
export function takeAllowance(
  state: AllowanceState,
  { operationId, value, by, now }: Taking,
  most: bigint,
): Decision<AllowanceEvent> {
  const since = plus(now, -day_ms);
  const held = heldSince(state, since);
  if (held.has(operationId)) return [];
  const taken = [...held.values()].reduce((sum, each) => sum + each, 0n);
  // With this many withdrawals in a day the window is incomplete, so the sum is unknown.
  const [oldest] = state;
  const isFull = state.length >= allowanceWindow && oldest !== undefined && isAfter(oldest.data.at, since);
  if (isFull || taken + value > most)
    return refuse(
      'forbidden',
      'the day’s limit of one operator (TREASURY_APPROVAL_USD) is exceeded: another operator must approve it',
    );
  return [{ type: 'AllowanceTaken', data: { operationId, value_microUsd: unitsText(value), by, at: now } }];
}

/** Returns the share of a withdrawal that will never be made. */
export const returnAllowance = (
  state: AllowanceState,
  { operationId, by, now }: Omit<Taking, 'value'>,
): Decision<AllowanceEvent> =>
  heldSince(state, plus(now, -day_ms)).has(operationId)
    ? [{ type: 'AllowanceReturned', data: { operationId, by, at: now } }]
    : [];

function heldSince(state: AllowanceState, since: Instant): ReadonlyMap<string, bigint> {
  const held = new Map<string, bigint>();
  for (const { type, data } of state) {
    if (type === 'AllowanceReturned') held.delete(data.operationId);
    else if (isAfter(data.at, since)) held.set(data.operationId, BigInt(data.value_microUsd));
  }
  return held;
}
