/** State of an account's books, folded from stream `books-<chainId>-<account>`. */

import Type, { type Static } from 'typebox';
import { chainIds } from '../chains.ts';
import { type Decider, InvariantBroken } from '../decider.ts';
import { Address, Amount, closed, Hash, Height, nullable, oneOf, SignedAmount, Text, Time } from '../schema.ts';
import type { Instant } from '../time.ts';
import { Place, Reason } from '../transfer/shapes.ts';

// Every event of the books of an account, as it is stored. Stream `books-<chainId>-<account>`.

/** 2: the books of a network are closed at its reset. */
export const booksSchemaVersion = 2;

/** Smallest units by asset: `coin` for the chain's own coin, otherwise the token's address in the catalogue's spelling. */
const Balances = Type.Record(Address, Amount);
const Differences = Type.Record(Address, SignedAmount);
const atBlock = { blockNumber: Height, blockHash: Hash };

export const booksEventSchemas = {
  /** Balances of the account at the end of a final block. Earlier history is not examined. */
  BooksOpened: Type.Object(
    { chainId: oneOf(chainIds), account: Address, ...atBlock, balances: Balances, openedAt: Time },
    closed,
  ),
  /** Received money that belongs to no payment, no unmatched money and no transfer of ours. */
  TopUpSeen: Type.Object(
    {
      asset: Address,
      amount: Amount,
      /** Sender; null for several senders, or if the chain does not return it. */
      from: nullable(Address),
      /** A stranger flushed one of our deposits, which anyone may do. Omitted for other money. */
      fromDeposit: Type.Optional(Type.Literal(true)),
      /** Null if no transaction is known: coin on EVM appears only in balances. */
      transaction: nullable(Type.Object(Place, closed)),
      /** Number of top-ups in a sum; omitted for one. */
      count: Type.Optional(Type.Integer({ minimum: 2 })),
      /** Block of the comparison that found it. */
      upTo: Height,
      seenAt: Time,
    },
    closed,
  ),
  /** Lasting difference between the chain and the books, and the known evidence. */
  BooksFoundOpen: Type.Object({ ...atBlock, differences: Differences, evidence: Text(2_000), seenAt: Time }, closed),
  /** An operator explained the difference: the books include it from then on. */
  DifferenceExplained: Type.Object(
    { blockNumber: Height, differences: Differences, reason: Reason, explainedAt: Time },
    closed,
  ),
  /** Opening, receipts, payments and costs equal the account's balances exactly. */
  BooksClosed: Type.Object({ ...atBlock, balances: Balances, closedAt: Time }, closed),
  /**
   * The chain's network was reset, so its money and its block numbers are gone. Movements recorded before this event belong to the old
   * network. The books open again with the next `BooksOpened`.
   */
  BooksNetworkClosed: Type.Object(
    {
      reason: Type.Literal('networkBegunAnew'),
      /** Value that identified the old network; null if it was not stored. */
      network: nullable(Text(200)),
      /** The last block and balances at which the books closed; null if they were never open. */
      last: nullable(Type.Object({ ...atBlock, balances: Balances }, closed)),
      /** Addresses whose money belonged to the account. */
      payinAddresses: Type.Array(Address, { maxItems: 16 }),
      closedAt: Time,
    },
    closed,
  ),
} as const;

type Schemas = typeof booksEventSchemas;
export type BooksEventType = keyof Schemas;
export type BooksEvent = {
  [T in BooksEventType]: { readonly type: T; readonly data: Static<Schemas[T]> };
}[BooksEventType];
export type BooksData<T extends BooksEventType> = Static<Schemas[T]>;

/** Amounts of several assets. */

/** Smallest units by asset; zero amounts may be omitted. */
export type Amounts = Readonly<Record<string, bigint>>;

export const amountsIn = (texts: Readonly<Record<string, string>>): Amounts =>
  Object.fromEntries(Object.entries(texts).map(([asset, units]) => [asset, BigInt(units)]));

export const textsOf = (amounts: Amounts): Record<string, string> =>
  Object.fromEntries(Object.entries(amounts).map(([asset, units]) => [asset, units.toString()]));

export function addAmounts(a: Amounts, b: Amounts, sign: 1n | -1n = 1n): Amounts {
  const assets = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries([...assets].map((asset) => [asset, (a[asset] ?? 0n) + sign * (b[asset] ?? 0n)]));
}

/** Amounts other than zero. */
export const nonZero = (amounts: Amounts): Amounts =>
  Object.fromEntries(Object.entries(amounts).filter(([, units]) => units !== 0n));

export const isNothing = (amounts: Amounts): boolean => Object.values(amounts).every((units) => units === 0n);

export interface At {
  readonly blockNumber: bigint;
  readonly blockHash: string;
}

export interface Books {
  /** Number of networks of this chain that were closed before. */
  readonly networksClosed: number;
  readonly opened: At & { readonly balances: Amounts };
  /** The books' own entries besides recorded transfers: opening, top-ups, and explained differences. */
  readonly own: Amounts;
  /** Latest closing. */
  readonly closed: (At & { readonly balances: Amounts; readonly at: Instant }) | null;
  /** Difference found since then; null if there is none. */
  readonly open: (At & { readonly differences: Amounts; readonly since: Instant }) | null;
  /** Top-ups of transactions after the last closing, by `topUpKey`. */
  readonly topUps: ReadonlyMap<string, bigint>;
  /** By asset, the last block whose smaller top-ups were recorded as a sum. */
  readonly summedTo: Amounts;
}

/** The books of one network are closed, and those of the next one are not open yet. */
export interface BetweenNetworks {
  readonly networksClosed: number;
  readonly opened: null;
}

/** `null` before they are first opened. */
export type BooksState = Books | BetweenNetworks | null;

/** Returns the books that are open now. */
export const openIn = (state: BooksState): Books | null => (state === null || state.opened === null ? null : state);

export const networksClosedIn = (state: BooksState): number => state?.networksClosed ?? 0;

export const books: Decider<BooksState, BooksEvent> = {
  category: 'books',
  initial: null,
  evolve(state, event) {
    if (event.type === 'BooksOpened') {
      const balances = amountsIn(event.data.balances);
      return {
        networksClosed: networksClosedIn(state),
        opened: { ...atOf(event.data), balances },
        own: balances,
        closed: null,
        open: null,
        topUps: new Map(),
        summedTo: {},
      };
    }
    if (event.type === 'BooksNetworkClosed') return { networksClosed: networksClosedIn(state) + 1, opened: null };
    return evolveOpen(openIn(state), event);
  },
};

function evolveOpen(
  state: Books | null,
  event: Exclude<BooksEvent, { type: 'BooksOpened' | 'BooksNetworkClosed' }>,
): Books {
  if (!state) throw new InvariantBroken(`${event.type} before BooksOpened`);
  switch (event.type) {
    case 'TopUpSeen':
      return withTopUp(state, event.data);
    case 'BooksFoundOpen': {
      const { differences, seenAt } = event.data;
      return { ...state, open: { ...atOf(event.data), differences: amountsIn(differences), since: seenAt } };
    }
    case 'DifferenceExplained':
      return { ...state, open: null, own: addAmounts(state.own, amountsIn(event.data.differences)) };
    case 'BooksClosed': {
      const { balances, closedAt } = event.data;
      const closed = { ...atOf(event.data), balances: amountsIn(balances), at: closedAt };
      const later = [...state.topUps].filter(([, block]) => block > closed.blockNumber);
      return { ...state, closed, open: null, topUps: new Map(later) };
    }
  }
}

function withTopUp(state: Books, { asset, amount, transaction, count, upTo }: BooksData<'TopUpSeen'>): Books {
  const own = addAmounts(state.own, { [asset]: BigInt(amount) });
  if (count !== undefined) return { ...state, own, summedTo: { ...state.summedTo, [asset]: BigInt(upTo) } };
  if (!transaction) return { ...state, own };
  const key = topUpKey(transaction.hash, asset);
  return { ...state, own, topUps: new Map([...state.topUps, [key, BigInt(transaction.blockNumber)]]) };
}

export const topUpKey = (hash: string, asset: string): string => `${hash} ${asset}`;

const atOf = ({ blockNumber, blockHash }: { blockNumber: string; blockHash: string }): At => ({
  blockNumber: BigInt(blockNumber),
  blockHash,
});

export const booksInstance = (chainId: number, account: string): string => `${chainId}-${account}`;
