/** Every event of a treasury account, as it is stored. */
import Type, { type Static } from 'typebox';
import { chainIds } from '../chains.ts';
import { Address, Amount, closed, Hash, Height, Id, nullable, oneOf, Text, Time } from '../schema.ts';
import { LandedAt, purposeKinds } from '../transfer/shapes.ts';

/** 2: a cancel's bytes are kept and it may be outbid; a nonce says what its transfer moves; what used a nonce up is asked and answered. 3: withdrawals and deployments get nonces too; what a cancel cost; what operators know of transactions
 * that nothing here records. 4: batches of payouts get nonces too. 5: the history of a network ends when the network begins anew.
 * 6: burns and mints of rebalances get nonces too. */
export const treasurySchemaVersion = 6;

/** What a nonce is for. A purpose gets one nonce; another attempt after a proven death is another purpose. */
const Purpose = Type.Object(
  {
    kind: oneOf(purposeKinds),
    /** Which transfer (domain/transfer/shapes.ts). */
    reference: Id,
    /** Counts the nonces that one reference used up: 1 for the first. */
    ordinal: Type.Integer({ minimum: 1, maximum: 10_000 }),
  },
  closed,
);

const Moved = Type.Object({ token: Address, amount: Amount }, closed);
const Bytes = Type.String({ minLength: 2, maxLength: 65_536 });
/** What a transaction did to the account; negative for what left it. */
const Change = Type.Object(
  {
    /** A token by its contract; `coin` for the chain's own. The fee is not in it. */
    asset: Address,
    amount: Type.String({ pattern: '^-?(0|[1-9][0-9]{0,77})$' }),
    /** Who got or gave it; null where nobody did, or several may have. */
    counterparty: nullable(Address),
  },
  closed,
);
const Reason = Type.String({ minLength: 1, maxLength: 400 });

export const treasuryEventSchemas = {
  /** The account's history here begins: the chain's nonce at that moment; 0 where it has none. */
  TreasuryOpened: Type.Object(
    { chainId: oneOf(chainIds), account: Address, firstNonce: Height, openedAt: Time },
    closed,
  ),
  NonceAssigned: Type.Object(
    {
      nonce: Height,
      purpose: Purpose,
      /** The token, by its contract, and how much of it in smallest units. Missing in older ones. */
      moves: Type.Optional(Moved),
      assignedAt: Time,
    },
    closed,
  ),
  /** A transaction that does nothing but use the nonce up, recorded before it is sent. One with higher fees may follow and outbid it. */
  NonceCancelled: Type.Object(
    {
      nonce: Height,
      hash: Hash,
      /** Missing in older ones, as the fee. */
      bytes: Type.Optional(Bytes),
      fee: Type.Optional(Type.Record(Type.String(), Type.String({ maxLength: 78 }))),
      cancelledAt: Time,
    },
    closed,
  ),
  /** The cancelled nonce is used up for good, by a transaction that is recorded. */
  NonceUsedUp: Type.Object(
    {
      nonce: Height,
      detail: Text(400),
      /** A cancel, and what it cost; left out where a transfer used the nonce, which its own stream tells, and in older ones. */
      landed: Type.Optional(LandedAt),
      usedAt: Time,
    },
    closed,
  ),
  /** A transaction that nothing here records has used the nonce up. */
  NonceTaken: Type.Object(
    {
      nonce: Height,
      detail: Text(400),
      /** Whether the nodes show that transaction, so that no recorded attempt can have used the nonce. */
      proven: Type.Boolean(),
      seenAt: Time,
    },
    closed,
  ),
  /** An operator knows what used the nonces below `upTo` that the log does not know of. */
  NoncesExplained: Type.Object({ upTo: Height, reason: Reason, explainedAt: Time }, closed),
  /** A transaction of the account that nothing here records moved money away. On chains whose nonces do not tell of it. */
  OutflowSeen: Type.Object({ hash: Hash, blockNumber: Height, detail: Text(400), seenAt: Time }, closed),
  /** An operator knows what a transaction was that nothing here records. */
  TransactionAdopted: Type.Object(
    {
      hash: Hash,
      /** The one that it used up of the account; null for another account's, and where there are none. */
      nonce: nullable(Height),
      blockNumber: Height,
      blockHash: Hash,
      /** Of its block. */
      time: Time,
      succeeded: Type.Boolean(),
      /** Of the chain's coin, in smallest units, as far as the account paid it. */
      fee: Amount,
      changes: Type.Array(Change, { maxItems: 50 }),
      /** What the account's next transaction gets; null where there are no nonces. */
      nextNonce: nullable(Height),
      reason: Reason,
      adoptedAt: Time,
    },
    closed,
  ),
  /** Without a nonce where the chain has none. */
  SweepSigned: Type.Object({ nonce: nullable(Height), hash: Hash, bytes: Bytes, signedAt: Time }, closed),
  SweepConfirmed: Type.Object(
    { nonce: nullable(Height), hash: Hash, landed: Type.Optional(LandedAt), confirmedAt: Time },
    closed,
  ),
  PayoutsPaused: Type.Object({ reason: Text(400), pausedAt: Time }, closed),
  PayoutsResumed: Type.Object({ resumedAt: Time }, closed),
  /** The chain's network began anew: nonces recorded before this event belong to the old network. */
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
