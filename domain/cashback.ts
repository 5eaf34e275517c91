/**
 * Credit that buyers have spent at a merchant, and the merchant's withdrawals of it, in US cents. Stream `cashback-<appId>`. It is separate
 * from the merchant's settings because it grows with every sale. Each event holds the account's state after it, so only the last event is
 * read.
 */
import Type, { type Static } from 'typebox';
import { chainIds } from './chains.ts';
import { assert, type Decider, type Decision, refuse } from './decider.ts';
import { TokenRef } from './payment/events.ts';
import { Address, Amount, closed, Digest, Id, nullable, oneOf, Text, Time } from './schema.ts';
import type { Instant } from './time.ts';

/**
 * 2: a withdrawal states whether its fee opens the receiver's account for the token. 3: the cents of a withdrawal that
 * cannot be paid out return to the account.
 */
export const cashbackSchemaVersion = 3;

/** Maximum withdrawals whose payments are not created yet. */
const openMax = 16;

/** Everything that the withdrawal's payment is created from. */
const withdrawal = {
  /** Payment that pays the withdrawal. */
  paymentId: Id,
  cents: Amount,
  chainId: oneOf(chainIds),
  token: TokenRef,
  receiverAddress: Address,
  receiverMemo: nullable(Text(128)),
  /** In the token's smallest unit. Part of the amount, as in every payment. */
  fee: Type.Object({ fixed: Amount, basisPoints: Type.Integer({ minimum: 0, maximum: 10_000 }) }, closed),
  /** True if the fee pays for opening the receiver's account for the token. Omitted if none is needed, and in older withdrawals. */
  opensAccount: Type.Optional(Type.Boolean()),
};
const Withdrawal = Type.Object(withdrawal, closed);

const Standing = Type.Object(
  {
    received: Type.Integer({ minimum: 0 }),
    received_cents: Amount,
    withdrawn_cents: Amount,
    /** Sum of the withdrawals that returned because they could not be paid out. Omitted before the first one. */
    returned_cents: Type.Optional(Amount),
    balance_cents: Amount,
    open: Type.Array(Withdrawal, { maxItems: openMax }),
  },
  closed,
);

export const cashbackEventSchemas = {
  CashbackReceived: Type.Object(
    {
      /** Sequence number among the merchant's received payments, from 1, in log order. */
      ordinal: Type.Integer({ minimum: 1 }),
      /** Buyer whose credit was spent, and the message that spent it. */
      account: Address,
      digest: Digest,
      orderId: nullable(Text(128)),
      cents: Amount,
      after: Standing,
      receivedAt: Time,
    },
    closed,
  ),
  CashbackWithdrawn: Type.Object({ ...withdrawal, after: Standing, withdrawnAt: Time }, closed),
  WithdrawalOrdered: Type.Object({ paymentId: Id, after: Standing, orderedAt: Time }, closed),
  WithdrawalReturned: Type.Object({ paymentId: Id, cents: Amount, after: Standing, returnedAt: Time }, closed),
} as const;

type Schemas = typeof cashbackEventSchemas;
export type CashbackEventType = keyof Schemas;
export type CashbackEvent = {
  [T in CashbackEventType]: { readonly type: T; readonly data: Static<Schemas[T]> };
}[CashbackEventType];
export type Withdrawal = Static<typeof Withdrawal>;
/** State of the account: number and sum of received payments, the withdrawn sum, and withdrawals that wait for their payment. */
export type CashbackState = Static<typeof Standing>;

export const cashback: Decider<CashbackState, CashbackEvent> = {
  category: 'cashback',
  window: 1,
  initial: { received: 0, received_cents: '0', withdrawn_cents: '0', balance_cents: '0', open: [] },
  evolve: (_state, { data }) => data.after,
};

const plus = (cents: string, more: bigint): string => (BigInt(cents) + more).toString();

/** A buyer's payment, numbered among all payments that the merchant received. */
export interface Received {
  readonly ordinal: number;
  readonly account: string;
  readonly digest: string;
  readonly orderId: string | null;
  readonly cents: bigint;
}

/** Records the next payment. Returns `[]` for a repeated one, which its number reveals. */
export function receive(state: CashbackState, payment: Received, now: Instant): Decision<CashbackEvent> {
  const { ordinal, cents } = payment;
  if (ordinal <= state.received) return [];
  assert(ordinal === state.received + 1, `payment ${ordinal} comes after ${state.received}: one is missing`);
  const after = {
    ...state,
    received: ordinal,
    received_cents: plus(state.received_cents, cents),
    balance_cents: plus(state.balance_cents, cents),
  };
  return [{ type: 'CashbackReceived', data: { ...payment, cents: cents.toString(), after, receivedAt: now } }];
}

/**
 * Takes an amount out of the account for its payment. Returns `[]` while the same withdrawal waits for its payment.
 *
 * @param seen the account before the caller found that the payment does not exist: no withdrawal may have happened since, because it
 * could have been this one
 */
export function withdraw(
  state: CashbackState,
  asked: Withdrawal,
  { seen, now }: { readonly seen: CashbackState; readonly now: Instant },
): Decision<CashbackEvent> {
  const { balance_cents, withdrawn_cents, open } = state;
  const same = open.find(({ paymentId }) => paymentId === asked.paymentId);
  if (same) return same.cents === asked.cents ? [] : otherAmount;
  // The withdrawal waited a moment ago and has its payment by now. Accepting it again would withdraw twice.
  const ended = seen.open.some(({ paymentId }) => paymentId === asked.paymentId);
  if (ended || withdrawn_cents !== seen.withdrawn_cents) return overtaken;
  const cents = BigInt(asked.cents);
  if (cents > BigInt(balance_cents)) {
    const message = `the account has ${balance_cents} cents: withdraw no more than that`;
    return refuse('invalidRequest', message, '/amount_usd_cents');
  }
  if (open.length >= openMax) return refuse('unavailable', 'other withdrawals are being ordered: try again shortly');
  const after = {
    ...state,
    withdrawn_cents: plus(withdrawn_cents, cents),
    balance_cents: plus(balance_cents, -cents),
    open: [...open, asked],
  };
  return [{ type: 'CashbackWithdrawn', data: { ...asked, after, withdrawnAt: now } }];
}

export const overtaken = refuse('unavailable', 'other withdrawals were faster: try again');

export const otherAmount = refuse(
  'orderConflict',
  'this withdrawal_id was used for another amount: send that, or another id',
  '/withdrawal_id',
);

/** Records that the withdrawal's payment exists. */
export function orderedWithdrawal(state: CashbackState, paymentId: string, now: Instant): Decision<CashbackEvent> {
  const open = state.open.filter((each) => each.paymentId !== paymentId);
  if (open.length === state.open.length) return [];
  return [{ type: 'WithdrawalOrdered', data: { paymentId, after: { ...state, open }, orderedAt: now } }];
}

/**
 * Returns the cents of a withdrawal whose payment bounced: its receiver can never be paid.
 *
 * @param seen the account before the caller found that this withdrawal has not returned: no withdrawal may have returned since
 */
export function returnWithdrawal(
  state: CashbackState,
  { paymentId, cents }: Pick<Withdrawal, 'paymentId'> & { readonly cents: bigint },
  { seen, now }: { readonly seen: CashbackState; readonly now: Instant },
): Decision<CashbackEvent> {
  const { returned_cents = '0', balance_cents } = state;
  if (returned_cents !== (seen.returned_cents ?? '0')) return overtaken;
  const after = {
    ...state,
    returned_cents: plus(returned_cents, cents),
    balance_cents: plus(balance_cents, cents),
  };
  return [{ type: 'WithdrawalReturned', data: { paymentId, cents: cents.toString(), after, returnedAt: now } }];
}
