/** Every event of a treasury account, as it is stored. */
import Type, { type Static } from 'typebox';
import { chainIds } from '../chains.ts';
import { Address, Amount, closed, Hash, Height, Id, nullable, oneOf, Text, Time } from '../schema.ts';
import { LandedAt, purposeKinds } from '../transfer/shapes.ts';

/**
 * 2: a cancel's bytes are stored and it may be outbid; a nonce states the movement of its transfer; the use of a nonce
 * is recorded. 3: nonces for withdrawals and deployments; the cost of a cancel; adopted transactions. 4: nonces for
 * batches of payouts. 5: a network's history ends at its reset. 6: nonces of the relay account. 7: nonces for burns and
 * mints of rebalances.
 */
export const treasurySchemaVersion = 7;

/** Purpose of a nonce. A purpose gets one nonce; another attempt after a proven death is another purpose. */
const Purpose = Type.Object(
  {
    kind: oneOf(purposeKinds),
    /** Reference of the transfer (domain/transfer/shapes.ts). */
    reference: Id,
    /** Sequence number of the nonces that one reference used up: 1 for the first. */
    ordinal: Type.Integer({ minimum: 1, maximum: 10_000 }),
  },
  closed,
);

const Moved = Type.Object({ token: Address, amount: Amount }, closed);
const Bytes = Type.String({ minLength: 2, maxLength: 65_536 });
/** A transaction's change of the account; negative for an outgoing amount. */
const Change = Type.Object(
  {
    /** Token contract, or `coin` for the chain's own. Excludes the fee. */
    asset: Address,
    amount: Type.String({ pattern: '^-?(0|[1-9][0-9]{0,77})$' }),
    /** The other party; null for none or for several. */
    counterparty: nullable(Address),
  },
  closed,
);
const Reason = Type.String({ minLength: 1, maxLength: 400 });

export const treasuryEventSchemas = {
  /** The account's history begins: the chain's nonce at that moment; 0 if the chain has none. */
  TreasuryOpened: Type.Object(
    { chainId: oneOf(chainIds), account: Address, firstNonce: Height, openedAt: Time },
    closed,
  ),
  NonceAssigned: Type.Object(
    {
      nonce: Height,
      purpose: Purpose,
      /** Token contract and amount in smallest units. Omitted in older events. */
      moves: Type.Optional(Moved),
      assignedAt: Time,
    },
    closed,
  ),
  /** A transaction whose only effect is to use up the nonce, recorded before it is sent. A later one with higher fees may outbid it. */
  NonceCancelled: Type.Object(
    {
      nonce: Height,
      hash: Hash,
      /** Omitted in older events, like the fee. */
      bytes: Type.Optional(Bytes),
      fee: Type.Optional(Type.Record(Type.String(), Type.String({ maxLength: 78 }))),
      cancelledAt: Time,
    },
    closed,
  ),
  /** The cancelled nonce is used up for good, by a recorded transaction. */
  NonceUsedUp: Type.Object(
    {
      nonce: Height,
      detail: Text(400),
      /** The cancel's cost; omitted if a transfer used the nonce, whose stream records the cost, and in older events. */
      landed: Type.Optional(LandedAt),
      usedAt: Time,
    },
    closed,
  ),
  /** A transaction without a record has used up the nonce. */
  NonceTaken: Type.Object(
    {
      nonce: Height,
      detail: Text(400),
      /** True if the nodes return that transaction, so no recorded attempt can have used the nonce. */
      proven: Type.Boolean(),
      seenAt: Time,
    },
    closed,
  ),
  /** An operator explained the unknown uses of nonces below `upTo`. */
  NoncesExplained: Type.Object({ upTo: Height, reason: Reason, explainedAt: Time }, closed),
  /** A transaction of the account without a record moved its money. Only on chains whose nonces do not reveal it. */
  OutflowSeen: Type.Object({ hash: Hash, blockNumber: Height, detail: Text(400), seenAt: Time }, closed),
  /** An operator explained a transaction without a record. */
  TransactionAdopted: Type.Object(
    {
      hash: Hash,
      /** Nonce of this account that it used up; null if another account's, or if the chain has none. */
      nonce: nullable(Height),
      blockNumber: Height,
      blockHash: Hash,
      /** Time of its block. */
      time: Time,
      succeeded: Type.Boolean(),
      /** Fee that the account paid, in smallest units of the chain's coin. */
      fee: Amount,
      changes: Type.Array(Change, { maxItems: 50 }),
      /** Nonce of the account's next transaction; null on a chain without nonces. */
      nextNonce: nullable(Height),
      reason: Reason,
      adoptedAt: Time,
    },
    closed,
  ),
  /** Without a nonce on a chain that has none. */
  SweepSigned: Type.Object({ nonce: nullable(Height), hash: Hash, bytes: Bytes, signedAt: Time }, closed),
  SweepConfirmed: Type.Object(
    { nonce: nullable(Height), hash: Hash, landed: Type.Optional(LandedAt), confirmedAt: Time },
    closed,
  ),
  PayoutsPaused: Type.Object({ reason: Text(400), pausedAt: Time }, closed),
  PayoutsResumed: Type.Object({ resumedAt: Time }, closed),
  /** The chain's network was reset: nonces recorded before this event belong to the old network. */
  TreasuryNetworkClosed: Type.Object(
    { reason: Type.Literal('networkBegunAnew'), network: nullable(Text(200)), closedAt: Time },
    closed,
  ),
} as const;

type Schemas = typeof treasuryEventSchemas;
export type TreasuryEventType = keyof Schemas;
export type TreasuryEvent = {
  [T in TreasuryEventType]: { readonly type: T; readonly data: Static<Schemas[T]> };
}[TreasuryEventType];
export type Purpose = Static<typeof Purpose>;
export type Moved = Static<typeof Moved>;
export type TransactionAdopted = Static<Schemas['TransactionAdopted']>;
