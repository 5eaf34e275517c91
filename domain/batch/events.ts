/** Every event of a batch of payouts, as it is stored. Stream `payoutBatch-<chainId>-<account>-<number>`. */
import Type, { type Static } from 'typebox';
import { chainIds } from '../chains.ts';
import { Address, Amount, closed, Id, oneOf, Time } from '../schema.ts';
import { AssetRef, Attempt, DeathProof, Orphaned, Reason, Settled, Short, SignedAttempt } from '../transfer/shapes.ts';

export const payoutBatchSchemaVersion = 1;

/** Payouts that one batch takes at most: its bytes stand in the stream of each. */
export const membersMax = 50;

const Member = Type.Object({ paymentId: Id, appId: Id, receiver: Address, amount: Amount }, closed);
const Position = Type.Integer({ minimum: 1, maximum: membersMax });

export const payoutBatchEventSchemas = {
  BatchOpened: Type.Object(
    {
      chainId: oneOf(chainIds),
      /** Of the treasury. */
      account: Address,
      token: AssetRef,
      /** The contract that pays all of them in one transaction. */
      contract: Address,
      members: Type.Array(Member, { minItems: 2, maxItems: membersMax }),
      openedAt: Time,
    },
    closed,
  ),
  /** Whose payments have recorded that they are in it, by their places among the members, from 1. */
  BatchGathered: Type.Object({ joined: Type.Array(Position, { maxItems: membersMax }), gatheredAt: Time }, closed),
  BatchSigned: Type.Object(SignedAttempt, closed),
  BatchDied: Type.Object({ attempt: Attempt, proof: DeathProof }, closed),
  BatchOrphaned: Type.Object(Orphaned, closed),
  BatchConfirmed: Type.Object(Settled, closed),
  /** It is on its chain for good, and not every receiver got all; `brought` says what each got, in the order of those who joined. */
  BatchShort: Type.Object({ ...Short, brought: Type.Array(Amount, { maxItems: membersMax }) }, closed),
  /** Nothing of it can land any more, and nothing more is signed for it: its members are paid by themselves. */
  BatchDissolved: Type.Object({ reason: Reason, dissolvedAt: Time }, closed),
  /** The streams of its members have the first so many changes: signatures, deaths, what landed. */
  BatchTold: Type.Object({ changes: Type.Integer({ minimum: 1 }) }, closed),
} as const;

type Schemas = typeof payoutBatchEventSchemas;
export type PayoutBatchEventType = keyof Schemas;
export type PayoutBatchEvent = {
  [T in PayoutBatchEventType]: { readonly type: T; readonly data: Static<Schemas[T]> };
}[PayoutBatchEventType];
export type BatchOpened = Static<Schemas['BatchOpened']>;
export type Member = Static<typeof Member>;
