/** Every event of a batch of payouts, as it is stored. Stream `payoutBatch-<chainId>-<account>-<number>`. */
import Type, { type Static } from 'typebox';
import { chainIds } from '../chains.ts';
import { Address, Amount, closed, Id, oneOf, Time } from '../schema.ts';
import { AssetRef, Attempt, DeathProof, Orphaned, Reason, Settled, Short, SignedAttempt } from '../transfer/shapes.ts';

export const payoutBatchSchemaVersion = 1;

/** Maximum payouts of one batch: each member's stream holds its bytes. */
export const membersMax = 50;

const Member = Type.Object({ paymentId: Id, appId: Id, receiver: Address, amount: Amount }, closed);
const Position = Type.Integer({ minimum: 1, maximum: membersMax });

export const payoutBatchEventSchemas = {
  BatchOpened: Type.Object(
    {
      chainId: oneOf(chainIds),
      /** The treasury's account. */
      account: Address,
      token: AssetRef,
      /** The contract that pays all of them in one transaction. */
      contract: Address,
      members: Type.Array(Member, { minItems: 2, maxItems: membersMax }),
      openedAt: Time,
    },
    closed,
  ),
  /** Positions (from 1) of the members whose payments have recorded that they joined. */
  BatchGathered: Type.Object({ joined: Type.Array(Position, { maxItems: membersMax }), gatheredAt: Time }, closed),
  BatchSigned: Type.Object(SignedAttempt, closed),
  BatchDied: Type.Object({ attempt: Attempt, proof: DeathProof }, closed),
  BatchOrphaned: Type.Object(Orphaned, closed),
  BatchConfirmed: Type.Object(Settled, closed),
  /** The transaction is final, and some receivers got less than ordered. `brought` holds each joined member's amount, in order. */
  BatchShort: Type.Object({ ...Short, brought: Type.Array(Amount, { maxItems: membersMax }) }, closed),
  /** Nothing of the batch can land, and nothing more is signed for it: its members are paid alone. */
  BatchDissolved: Type.Object({ reason: Reason, dissolvedAt: Time }, closed),
  /** The members' streams have this many changes: signatures, deaths, landings. */
  BatchTold: Type.Object({ changes: Type.Integer({ minimum: 1 }) }, closed),
} as const;

type Schemas = typeof payoutBatchEventSchemas;
export type PayoutBatchEventType = keyof Schemas;
export type PayoutBatchEvent = {
  [T in PayoutBatchEventType]: { readonly type: T; readonly data: Static<Schemas[T]> };
}[PayoutBatchEventType];
export type BatchOpened = Static<Schemas['BatchOpened']>;
export type Member = Static<typeof Member>;
