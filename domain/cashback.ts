/**
 * What buyers have paid a merchant out of their credit, in US cents. Stream `cashback-<appId>`, apart from the merchant's settings: it
 * grows with every sale. Each event says how the account stands after it, so that only the last ones are read.
 */
import Type, { type Static } from 'typebox';
import { assert, type Decider, type Decision } from './decider.ts';
import { Address, Amount, closed, Digest, nullable, Text, Time } from './schema.ts';
import type { Instant } from './time.ts';

export const cashbackSchemaVersion = 1;

const Standing = Type.Object(
  { received: Type.Integer({ minimum: 0 }), received_cents: Amount, balance_cents: Amount },
  closed,
);

export const cashbackEventSchemas = {
  CashbackReceived: Type.Object(
    {
      /** Its number among all that the merchant was paid, from 1 on, in the order of the log. */
      ordinal: Type.Integer({ minimum: 1 }),
      /** Whose credit it was, and the message that paid. */
      account: Address,
      digest: Digest,
      orderId: nullable(Text(128)),
      cents: Amount,
      after: Standing,
      receivedAt: Time,
    },
    closed,
  ),
} as const;

type Schemas = typeof cashbackEventSchemas;
export interface CashbackEvent {
  readonly type: 'CashbackReceived';
  readonly data: Static<Schemas['CashbackReceived']>;
}

export interface CashbackState {
  /** How many payments by credit have come, and their sum. */
  readonly received: number;
  readonly received_cents: bigint;
  readonly balance_cents: bigint;
}

export const cashback: Decider<CashbackState, CashbackEvent> = {
  category: 'cashback',
  window: 1,
  initial: { received: 0, received_cents: 0n, balance_cents: 0n },
  evolve: (_state, { data: { after } }) => ({
    received: after.received,
    received_cents: BigInt(after.received_cents),
    balance_cents: BigInt(after.balance_cents),
  }),
};

/** A buyer's payment, numbered among all that the merchant was paid. */
export interface Received extends Omit<CashbackEvent['data'], 'after' | 'receivedAt' | 'cents'> {
  readonly cents: bigint;
}

/** Takes up the next payment. `[]` for one that has come before: its number says so. */
export function receive(state: CashbackState, payment: Received, now: Instant): Decision<CashbackEvent> {
  if (payment.ordinal <= state.received) return [];
  assert(
    payment.ordinal === state.received + 1,
    `payment ${payment.ordinal} comes after ${state.received}: one is missing`,
  );
  const after = {
    received: payment.ordinal,
    received_cents: (state.received_cents + payment.cents).toString(),
    balance_cents: (state.balance_cents + payment.cents).toString(),
  };
  const data = { ...payment, cents: payment.cents.toString(), after, receivedAt: now };
  return [{ type: 'CashbackReceived', data }];
}
