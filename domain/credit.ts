/**
 * Credit that a buyer earns by paying and spends at merchants, in US cents. Stream `credit-<address>`, by the buyer's address.
 *
 * Each event holds the account's state after it. Duplicates are found in the stream's last events, so only those are read.
 */

import Type, { type Static } from 'typebox';
import { type ChainId, chainIds } from './chains.ts';
import { assert, type Decider, type Decision } from './decider.ts';
import { Address, Amount, closed, Digest, Id, nullable, oneOf, Text, Time } from './schema.ts';
import { epochMs, type Instant, minute_ms } from './time.ts';

export const creditSchemaVersion = 1;

/** A message is valid this long before and after its own time (service reference 8). */
export const tolerance_ms = 5 * minute_ms;
export const aboutMax = 500;
/** Number of last events in which duplicates are found. */
export const window = 2_000;

const Standing = Type.Object({ balance_cents: Amount, earnedOn: Type.Array(oneOf(chainIds)) }, closed);

export const creditEventSchemas = {
  CreditEarned: Type.Object(
    {
      account: Address,
      paymentId: Id,
      appId: Id,
      /** Chain of the payment. A contract account can only spend on chains where its contract accepts the message. */
      chainId: oneOf(chainIds),
      basisPoints: Type.Integer({ minimum: 1, maximum: 10_000 }),
      cents: Amount,
      after: Standing,
      earnedAt: Time,
    },
    closed,
  ),
  CreditSpent: Type.Object(
    {
      account: Address,
      /** Merchant that receives the credit. */
      appId: Id,
      /** SHA-256 of the signed message, which can be used once. Never of the signature, which has many valid forms. */
      digest: Digest,
      orderId: nullable(Text(128)),
      cents: Amount,
      amountLocal: nullable(Text(20)),
      currencyLocal: nullable(Text(3)),
      about: nullable(Text(aboutMax)),
      /** The message's own time. */
      signedAt: Time,
      after: Standing,
      spentAt: Time,
    },
    closed,
  ),
} as const;

type Schemas = typeof creditEventSchemas;
export type CreditEventType = keyof Schemas;
export type CreditEvent = {
  [T in CreditEventType]: { readonly type: T; readonly data: Static<Schemas[T]> };
}[CreditEventType];
export type CreditSpent = Static<Schemas['CreditSpent']>;

type Entry =
  | { readonly kind: 'earned'; readonly paymentId: string; readonly at: Instant }
  | ({ readonly kind: 'spent'; readonly at: Instant } & Pick<CreditSpent, 'digest' | 'appId' | 'orderId' | 'cents'>);

export interface CreditState {
  readonly balance_cents: bigint;
  /** Chains of the payments that earned the credit, sorted. */
  readonly earnedOn: readonly ChainId[];
  /** The latest, oldest first. */
  readonly entries: readonly Entry[];
}

export const credit: Decider<CreditState, CreditEvent> = {
  category: 'credit',
  window,
  initial: { balance_cents: 0n, earnedOn: [], entries: [] },
  evolve(state, { type, data }) {
    const balance_cents = BigInt(data.after.balance_cents);
    const change = type === 'CreditEarned' ? BigInt(data.cents) : -BigInt(data.cents);
    const fits = state.entries.length === 0 || state.balance_cents + change === balance_cents;
    assert(
      fits,
      `the credit of ${data.account} was ${state.balance_cents} cents and is ${balance_cents} after ${type}`,
    );
    return {
      balance_cents,
      earnedOn: data.after.earnedOn,
      entries: [...state.entries, entryOf(type, data)].slice(-window),
    };
  },
};

function entryOf(type: CreditEventType, data: CreditEvent['data']): Entry {
  if ('paymentId' in data) return { kind: 'earned', paymentId: data.paymentId, at: data.earnedAt };
  assert(type === 'CreditSpent', `${type} is neither earned nor spent`);
  const { digest, appId, orderId, cents, spentAt } = data;
  return { kind: 'spent', digest, appId, orderId, cents, at: spentAt };
}

/** True if the owner has recently paid by a message that they signed: an exchange signs none. */
export const hasSpent = ({ entries }: CreditState): boolean => entries.some(({ kind }) => kind === 'spent');

export interface Earning {
  readonly account: string;
  readonly paymentId: string;
  readonly appId: string;
  readonly chainId: ChainId;
  readonly basisPoints: number;
  /** More than zero. */
  readonly cents: bigint;
}

/** Records the buyer's share of a completed payment. Returns `[]` if the payment has earned already. */
export function earn(state: CreditState, earning: Earning, now: Instant): Decision<CreditEvent> {
  assert(earning.cents > 0n, 'a payment that earns nothing is not told to its buyer’s account');
  if (state.entries.some((entry) => entry.kind === 'earned' && entry.paymentId === earning.paymentId)) return [];
  const earnedOn = [...new Set([...state.earnedOn, earning.chainId])].sort((a, b) => a - b);
  const after = { balance_cents: (state.balance_cents + earning.cents).toString(), earnedOn };
  return [{ type: 'CreditEarned', data: { ...earning, cents: earning.cents.toString(), after, earnedAt: now } }];
}

/** Order in a signed message whose signature has been checked. */
export interface SpendOrder extends Omit<CreditSpent, 'cents' | 'after' | 'spentAt'> {
  /** More than zero. */
  readonly cents: bigint;
}

/**
 * spent: now, or earlier by the same message or the same order of the merchant. orderConflict: the merchant's order has another amount.
 * busy: too many events in a short time, so a repeated message could go unnoticed. unprovenChain: the account earned on a chain on which
 * its contract was not queried.
 */
export type SpendVerdict = 'spent' | 'expired' | 'outOfCredit' | 'orderConflict' | 'busy' | 'unprovenChain';

/** Signer of a message: the account's own key, or a contract that accepted the message on these chains. */
export type MessageSigner = 'key' | { readonly contractOn: readonly ChainId[] };

export interface Spending {
  readonly verdict: SpendVerdict;
  readonly events: readonly CreditEvent[];
}

/** Decides on an order. An account never falls below zero; a message or an order is paid at most once. */
export function spend(state: CreditState, order: SpendOrder, signer: MessageSigner, now: Instant): Spending {
  const verdict = judge(state, order, signer, now);
  if (verdict !== null) return { verdict, events: [] };
  const balance_cents = (state.balance_cents - order.cents).toString();
  const after = { balance_cents, earnedOn: [...state.earnedOn] };
  return {
    verdict: 'spent',
    events: [{ type: 'CreditSpent', data: { ...order, cents: order.cents.toString(), after, spentAt: now } }],
  };
}

/** Returns null if the order can be carried out. */
function judge(state: CreditState, order: SpendOrder, signer: MessageSigner, now: Instant): SpendVerdict | null {
  if (isUsed(state, order.digest)) return 'spent';
  if (isExpired(order.signedAt, now)) return 'expired';
  const former = state.entries.find(
    (entry) =>
      entry.kind === 'spent' &&
      order.orderId !== null &&
      entry.orderId === order.orderId &&
      entry.appId === order.appId,
  );
  if (former?.kind === 'spent') return BigInt(former.cents) === order.cents ? 'spent' : 'orderConflict';
  const [oldest] = state.entries;
  const isFull = state.entries.length >= window && oldest !== undefined;
  if (isFull && epochMs(now) - epochMs(oldest.at) <= 2 * tolerance_ms) return 'busy';
  if (signer !== 'key' && !state.earnedOn.every((chainId) => signer.contractOn.includes(chainId)))
    return 'unprovenChain';
  return state.balance_cents < order.cents ? 'outOfCredit' : null;
}

/** True if the account has paid by this message. */
export const isUsed = ({ entries }: CreditState, digest: string): boolean =>
  entries.some((entry) => entry.kind === 'spent' && entry.digest === digest);

export const isExpired = (signedAt: Instant, now: Instant): boolean =>
  Math.abs(epochMs(now) - epochMs(signedAt)) > tolerance_ms;

/**
 * The text that a buyer signs to pay out of credit; docs/integrate/cashback.md states the rule for those who build it elsewhere.
 *
 * One line for each field, in this order, its value in JSON: no value can pretend to be another line, so two different requests never
 * share a text. Only printable ASCII: every wallet shows and signs the same bytes.
 */
export const messageVersion = 1;

/** Fields of a request apart from its signature. Null: the field and its line are omitted. */
export interface CashbackMessage {
  /** The endpoint's URL, without a query. */
  readonly service: string;
  /** In the chain's canonical spelling. */
  readonly fromAddress: string;
  readonly toHandle: string;
  readonly amountUsdCents: number;
  readonly timestamp_ms: number;
  readonly amountLocal: number | null;
  readonly currencyLocal: string | null;
  readonly orderId: string | null;
  readonly about: string | null;
}

export function messageText(message: CashbackMessage): string {
  const fields: readonly (readonly [name: string, value: string | number | null])[] = [
    ['service', message.service],
    ['version', messageVersion],
    ['from_address', message.fromAddress],
    ['to_handle', message.toHandle],
    ['amount_usd_cents', message.amountUsdCents],
    ['timestamp', message.timestamp_ms],
    ['amount_local', message.amountLocal],
    ['currency_local', message.currencyLocal],
    ['order_id', message.orderId],
    ['about', message.about],
  ];
  const lines = fields.flatMap(([name, value]) => (value === null ? [] : [`${name}: ${ascii(value)}`]));
  return ['Pay with cashback credit', ...lines].join('\n');
}

/** JSON in printable ASCII: each other UTF-16 unit becomes \uXXXX in lower case. */
const ascii = (value: string | number): string =>
  JSON.stringify(value).replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
