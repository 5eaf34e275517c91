/** Every event of the books of an account, as it is stored. Stream `books-<chainId>-<account>`. */
import Type, { type Static } from 'typebox';
import { chainIds } from '../chains.ts';
import { Address, Amount, closed, Hash, Height, nullable, oneOf, SignedAmount, Text, Time } from '../schema.ts';
import { Place, Reason } from '../transfer/shapes.ts';

/** 2: the books of a network are closed at its reset. */
export const booksSchemaVersion = 2;

/** Smallest units by asset: `coin` for the chain's own coin, otherwise the token's address in the catalogue's spelling. */
const Balances = Type.Record(Address, Amount);
const Differences = Type.Record(Address, SignedAmount);
const At = { blockNumber: Height, blockHash: Hash };

export const booksEventSchemas = {
  /** Balances of the account at the end of a final block. Earlier history is not examined. */
  BooksOpened: Type.Object(
    { chainId: oneOf(chainIds), account: Address, ...At, balances: Balances, openedAt: Time },
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
  BooksFoundOpen: Type.Object({ ...At, differences: Differences, evidence: Text(2_000), seenAt: Time }, closed),
  /** An operator explained the difference: the books include it from then on. */
  DifferenceExplained: Type.Object(
    { blockNumber: Height, differences: Differences, reason: Reason, explainedAt: Time },
    closed,
  ),
  /** Opening, receipts, payments and costs equal the account's balances exactly. */
  BooksClosed: Type.Object({ ...At, balances: Balances, closedAt: Time }, closed),
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
      last: nullable(Type.Object({ ...At, balances: Balances }, closed)),
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
