/**
 * Amounts signed out of one payment's money, in a signer's own log: stream `moneyUse-<paymentId>`. A payout and refunds are separate
 * transfers in the service's log. Together they never exceed the received money, whatever that log says.
 */

import Type, { type Static } from 'typebox';
import { type Decider, type Decision, refuse } from '../decider.ts';
import { Amount, closed, Id, Text, Time } from '../schema.ts';
import type { Instant } from '../time.ts';

export const moneyUseSchemaVersion = 1;

export const moneyUseEventSchemas = {
  MoneyUsed: Type.Object(
    {
      /** Transfer that uses the money. */
      reference: Id,
      /** Chain and token of the money; amounts are in its smallest units. */
      asset: Text(200),
      amount: Amount,
      /** Money received by then, as the signer's own nodes proved it. */
      came: Type.Array(Type.Object({ transferId: Text(200), amount: Amount }, closed), { minItems: 1, maxItems: 200 }),
      usedAt: Time,
    },
    closed,
  ),
} as const;

export type MoneyUseEvent = {
  readonly type: 'MoneyUsed';
  readonly data: Static<(typeof moneyUseEventSchemas)['MoneyUsed']>;
};
export type MoneyUse = MoneyUseEvent['data'];
export type MoneyUseState = readonly MoneyUse[];

export const moneyUse: Decider<MoneyUseState, MoneyUseEvent> = {
  category: 'moneyUse',
  initial: [],
  evolve: (state, { data }) => [...state, data],
};

/** Other transfers that use the same money. */
export const otherUses = (
  state: MoneyUseState,
  { reference, asset }: Pick<MoneyUse, 'reference' | 'asset'>,
): readonly MoneyUse[] => state.filter((use) => use.reference !== reference && use.asset === asset);

/**
 * Reserves money for a transfer; `[]` if the transfer has reserved it. Refuses a known transfer with another amount or asset: a request
 * that failed after its first record must not make room for a larger one.
 * @param dead references of transfers whose signatures are all proven dead
 */
export function useMoney(
  state: MoneyUseState,
  { usedAt: now, ...use }: Omit<MoneyUse, 'usedAt'> & { readonly usedAt: Instant },
  dead: ReadonlySet<string>,
): Decision<MoneyUseEvent> {
  const known = state.find(({ reference }) => reference === use.reference);
  if (known && (known.amount !== use.amount || known.asset !== use.asset))
    return refuse(
      'forbidden',
      `${use.reference} was to take ${known.amount} of ${known.asset}: it does not take ${use.amount} of ${use.asset}`,
    );
  const others = otherUses(state, use);
  const came = new Map(
    [...others, use].flatMap((each) => each.came.map(({ transferId, amount }) => [transferId, amount])),
  );
  const all = [...came.values()].reduce((sum, amount) => sum + BigInt(amount), 0n);
  const taken = others.reduce((sum, { reference, amount }) => (dead.has(reference) ? sum : sum + BigInt(amount)), 0n);
  if (taken + BigInt(use.amount) > all)
    return refuse(
      'forbidden',
      `${all} units came in for this payment, of which ${taken} are signed away already: ${use.amount} more are not`,
    );
  return known ? [] : [{ type: 'MoneyUsed', data: { ...use, usedAt: now } }];
}

// Payment that an incoming transfer has funded: stream `fundingUse-<transferId>`, in the log of the signing process. A transfer funds one
// payment, even if the service's log names it for several.

export const fundingUseSchemaVersion = 1;

export const fundingUseEventSchemas = {
  FundingUsed: Type.Object({ paymentId: Id, usedAt: Time }, closed),
} as const;

export type FundingUseEvent = {
  readonly type: 'FundingUsed';
  readonly data: Static<(typeof fundingUseEventSchemas)['FundingUsed']>;
};
/** The payment; null if it has funded none yet. */
export type FundingUseState = string | null;

export const fundingUse: Decider<FundingUseState, FundingUseEvent> = {
  category: 'fundingUse',
  initial: null,
  /** The first use counts: in the service's shared log an attacker can append another one. */
  evolve: (used, { data }) => used ?? data.paymentId,
};

/** Uses an incoming transfer for a payment; `[]` if the payment has used it. */
export function useFunding(used: FundingUseState, paymentId: string, now: Instant): Decision<FundingUseEvent> {
  if (used === paymentId) return [];
  if (used !== null) return refuse('forbidden', `the transfer already paid payment ${used}`);
  return [{ type: 'FundingUsed', data: { paymentId, usedAt: now } }];
}
