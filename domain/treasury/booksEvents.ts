/** Every event of the books of an account, as it is stored. Stream `books-<chainId>-<account>`. */
import Type, { type Static } from 'typebox';
import { chainIds } from '../chains.ts';
import { Address, Amount, closed, Hash, Height, nullable, oneOf, SignedAmount, Text, Time } from '../schema.ts';
import { Place, Reason } from '../transfer/shapes.ts';

/** 2: the books of a network are closed when it begins anew. */
export const booksSchemaVersion = 2;

/** By asset: `coin` for the chain's own, a token by its address as the catalogue spells it; smallest units. */
const Balances = Type.Record(Address, Amount);
const Differences = Type.Record(Address, SignedAmount);
const At = { blockNumber: Height, blockHash: Hash };

export const booksEventSchemas = {
  /** What the account held at the end of a final block. What came before is not looked into. */
  BooksOpened: Type.Object(
    { chainId: oneOf(chainIds), account: Address, ...At, balances: Balances, openedAt: Time },
    closed,
  ),
  /** Money that came in and that belongs to no payment, no unmatched money and no transfer of ours. */
  TopUpSeen: Type.Object(
    {
      asset: Address,
      amount: Amount,
      /** Who sent it; null where several did, or the chain does not tell. */
      from: nullable(Address),
      /** One of our deposits was emptied by somebody: anybody may do that. Left out for other money. */
      fromDeposit: Type.Optional(Type.Literal(true)),
      /** Null where no transaction is known: the coin on EVM is seen by the balances alone. */
      transaction: nullable(Type.Object(Place, closed)),
      /** Where several are told together: how many. */
      count: Type.Optional(Type.Integer({ minimum: 2 })),
      /** The block of the look that found it. */
      upTo: Height,
      seenAt: Time,
    },
    closed,
  ),
  /** What the chain has more or less than the books, for a while now, and what is known of it. */
  BooksFoundOpen: Type.Object({ ...At, differences: Differences, evidence: Text(2_000), seenAt: Time }, closed),
  /** An operator knows what the difference is: it counts from then on. */
  DifferenceExplained: Type.Object(
    { blockNumber: Height, differences: Differences, reason: Reason, explainedAt: Time },
    closed,
  ),
  /** Opening, what came in, what went out and what it cost make up what the account holds, to the last unit. */
  BooksClosed: Type.Object({ ...At, balances: Balances, closedAt: Time }, closed),
  /**
   * The chain's network began anew, so its money and its block numbers are gone. Movements recorded before this event belong to the old
   * network. The books open again with the next `BooksOpened`.
   */
  BooksNetworkClosed: Type.Object(
    {
      reason: Type.Literal('networkBegunAnew'),
      /** What told the old network from others; null if it was not remembered. */
      network: nullable(Text(200)),
      /** The last block and balances that the books agreed with; null if they were never open. */
      last: nullable(Type.Object({ ...At, balances: Balances }, closed)),
      /** Addresses whose money was the account's. */
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
