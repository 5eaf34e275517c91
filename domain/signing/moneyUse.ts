/**
 * What was signed from the money of one payment, in a signer's own log: stream `moneyUse-<paymentId>`. A payout and refunds are transfers
 * of their own, and the service's log says which of them may be: together they never take more than came in, whatever it says.
 */
import Type, { type Static } from 'typebox';
import { type Decider, type Decision, refuse } from '../decider.ts';
import { Amount, closed, Id, Text, Time } from '../schema.ts';
import type { Instant } from '../time.ts';

export const moneyUseSchemaVersion = 1;

export const moneyUseEventSchemas = {
  MoneyUsed: Type.Object(
    {
      /** Which transfer takes it. */
      reference: Id,
      /** The chain and the token that it came in, in whose smallest units the amounts are. */
      asset: Text(200),
      amount: Amount,
      /** What had come in by then, as the signer's own nodes showed it. */
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

/** Other transfers that take of the same money. */
export const otherUses = (
  state: MoneyUseState,
  { reference, asset }: Pick<MoneyUse, 'reference' | 'asset'>,
): readonly MoneyUse[] => state.filter((use) => use.reference !== reference && use.asset === asset);

/**
 * Takes of the money; `[]` for a transfer that has taken it. Refuses a known transfer with another amount or asset: a request that failed
 * after its first record must not make room for a larger one.
 * @param dead references of transfers of which all that was signed is proven dead
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
