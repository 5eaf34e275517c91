/** Shapes that the events of all outgoing transfers share: part of the storage format, like the events themselves. */
import Type, { type Static } from 'typebox';
import { chainIds, tokenSymbols } from '../chains.ts';
import { coinSymbols } from '../coins.ts';
import { Address, Amount, closed, Hash, Height, nullable, oneOf, SignedAmount, Text, Time } from '../schema.ts';

export const Attempt = Type.Integer({ minimum: 1, maximum: 10_000 });
export const Memo = nullable(Text(128));
/** Of an operator, for whoever asks why. */
export const Reason = Type.String({ minLength: 1, maxLength: 400 });

/** A token of the catalogue, or the chain's own coin. */
export const AssetRef = Type.Object(
  {
    symbol: oneOf([...tokenSymbols, ...coinSymbols]),
    /** Contract, mint or asset; `coin` for the chain's own. */
    address: Address,
    decimals: Type.Integer({ minimum: 0, maximum: 18 }),
  },
  closed,
);

/** Signed bytes and all that is needed to send them again, replace them, or prove them dead. */
export const SignedAttempt = {
  attempt: Attempt,
  chainId: oneOf(chainIds),
  account: Address,
  /** EVM nonce, Stellar sequence; null where a chain has none. */
  nonce: nullable(Height),
  hash: Hash,
  bytes: Type.String({ minLength: 2, maxLength: 32_768 }),
  /** Until when the chain can accept the bytes: a height or time in the chain's own terms; null = until replaced. */
  validUntil: nullable(Text(64)),
  /** The chain's fee terms, so that a bump can be compared with what it replaces. */
  fee: Type.Record(Type.String(), Type.String({ maxLength: 78 })),
  token: AssetRef,
  receiver: Address,
  receiverMemo: Memo,
  amount: Amount,
  signedAt: Time,
};

/** What a transaction that landed took from the account that paid for it, besides what it was ordered to move. Missing in older events. */
export const Cost = Type.Object(
  {
    payer: Address,
    /** In the smallest unit of the chain's coin, like the rent. */
    fee: Amount,
    /** What went into accounts that it opened; negative for what came back from those that it closed. Left out where it is none. */
    rent: Type.Optional(SignedAmount),
    /** What left the payer of the ordered token, where that is not what was ordered. */
    left: Type.Optional(Amount),
  },
  closed,
);
const CostThere = { cost: Type.Optional(Cost) };

/** A transaction on its chain. */
export const Place = { hash: Hash, blockNumber: Height, blockHash: Hash };

/** One that landed and moved nothing that it was ordered to move. */
export const LandedAt = Type.Object({ ...Place, cost: Cost }, closed);

export const DeathProof = Type.Object(
  {
    /** declared: nodes prove no more than that it cannot land any more; an operator has found out that it did not. */
    reason: oneOf(['nonceUsed', 'reverted', 'validityPassed', 'declared']),
    detail: Text(400),
    /** Which of the attempts was taken up and reverted. */
    landed: Type.Optional(LandedAt),
  },
  closed,
);

/** Where an attempt landed. */
export const Landed = { attempt: Attempt, ...Place };
export const Settled = { ...Landed, ...CostThere, confirmedAt: Time };
/** It is on its chain for good, and less than was ordered reached the receiver. */
export const Short = { ...Landed, ...CostThere, arrived: Amount, seenAt: Time };
/** Its block left the chain. */
export const Orphaned = { attempt: Attempt, hash: Hash, blockHash: Hash };

const SignedObject = Type.Object(SignedAttempt, closed);
const SettledObject = Type.Object(Settled, closed);
const ShortObject = Type.Object(Short, closed);

export type AssetRef = Static<typeof AssetRef>;
export type SignedAttempt = Static<typeof SignedObject>;
export type SettledData = Static<typeof SettledObject>;
export type ShortData = Static<typeof ShortObject>;
export type DeathProof = Static<typeof DeathProof>;
export type Cost = Static<typeof Cost>;
export type LandedAt = Static<typeof LandedAt>;
