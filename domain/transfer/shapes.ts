/** Shapes that the events of all outgoing transfers share: part of the storage format, like the events themselves. */

import Type, { type Static } from 'typebox';
import { chainIds, tokenSymbols } from '../chains.ts';
import { coinSymbols } from '../money.ts';
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

/** What a transfer does where it is no plain transfer of a token. */

export type Form =
  /** Of the chain's own coin. */
  | { readonly kind: 'coin' }
  /** Takes what deposits hold of the token to the treasury, which is the receiver. */
  | { readonly kind: 'flush'; readonly deposits: readonly FlushedDeposit[] }
  /** Puts one of our contracts on the chain. It moves nothing; the receiver is the contract's address. */
  | { readonly kind: 'deploy'; readonly contract: OurContract }
  /** Lets a contract, the receiver, take so much of the token on the treasury's word, in smallest units. It moves nothing. */
  | { readonly kind: 'allow'; readonly contract: AllowedContract; readonly most: string }
  /** Writes a hash on the chain, as hex, for whoever looks it up there. It moves nothing; the receiver is the treasury itself. */
  | { readonly kind: 'anchor'; readonly hash: string }
  /** Burns the token, which Circle's protocol (CCTP) mints for the treasury on another chain. The receiver is the protocol's minter. */
  | {
      readonly kind: 'burn';
      readonly destinationDomain: number;
      /** The treasury's account there. */
      readonly mintRecipient: string;
      /** In smallest units. */
      readonly feeMax: string;
      readonly finality: number;
    }
  /** Mints for an attested burn. The receiver is the treasury itself, which gains the amount. */
  | { readonly kind: 'mint'; readonly message: string; readonly attestation: string }
  /** Pays several receivers in one transaction, in this order; the order's amount is their sum, its receiver the contract that does it. */
  | { readonly kind: 'payMany'; readonly payments: readonly PaidTogether[] };

export const ourContracts = ['forwarder', 'payMany'] as const;
export type OurContract = (typeof ourContracts)[number];
/** Ours, and the one that burns for rebalances. */
export const allowedContracts = [...ourContracts, 'tokenMessenger'] as const;
export type AllowedContract = (typeof allowedContracts)[number];

export interface PaidTogether {
  readonly paymentId: string;
  /** Whose limits it counts for. */
  readonly appId: string;
  readonly receiver: string;
  /** In smallest units. */
  readonly amount: bigint;
}

export interface FlushedDeposit {
  readonly address: string;
  /** What the address, or its key, is derived from. */
  readonly salt: string;
}

const movesNothing: ReadonlySet<string> = new Set<Form['kind']>(['flush', 'deploy', 'allow', 'anchor', 'mint']);

/** What an order takes of the treasury's balance of its token: flushes, deployments, allowances, anchors and mints pay nobody. */
export const floatTaken = ({ form, amount }: { readonly form?: Form; readonly amount: bigint }): bigint =>
  form && movesNothing.has(form.kind) ? 0n : amount;

/** Names of transfers: in streams, in nonces' purposes, in what signers are told, in to-do lists. */

/** What a nonce and a signature are for, as limits count it. */
export const purposeKinds = [
  'payout',
  'refund',
  'withdrawal',
  'sweep',
  'deployment',
  'cancel',
  'batch',
  'anchor',
  'burn',
  'mint',
] as const;
export type PurposeKind = (typeof purposeKinds)[number];

export const transferKinds = ['payout', 'refund', 'unmatchedRefund', 'operation', 'batch', 'rebalance'] as const;
/**
 * Which stream a transfer belongs to: a payment's for payouts and refunds, that of unmatched money, that of a treasury operation, of a batch
 * of payouts, or of a rebalance, which has two.
 */
export type TransferKind = (typeof transferKinds)[number];

export interface TransferKey {
  readonly kind: TransferKind;
  /** Of the stream: payment id, transfer id of unmatched money, operation id, batch id, rebalance id. */
  readonly id: string;
  /** The number of a payment's refund, or of a refund of unmatched money; 1 for a rebalance's burn, 2 for its mint; 1 for everything that a stream has one of. */
  readonly part: number;
}

/** In one text, unique among all transfers. A payout's is its payment's id, which holds neither a slash nor begins like the others. */
export function referenceOf({ kind, id, part }: TransferKey): string {
  switch (kind) {
    case 'payout':
      return id;
    case 'refund':
      return `${id}/refund-${part}`;
    case 'unmatchedRefund':
      return part === 1 ? `unmatched-${id}` : `unmatched-${id}/refund-${part}`;
    case 'operation':
      return `operation-${id}`;
    case 'batch':
      return `batch-${id}`;
    case 'rebalance':
      return `rebalance-${id}/${part === 1 ? 'burn' : 'mint'}`;
  }
}

/** The transfer of a reference. */
export function keyOf(reference: string): TransferKey {
  const { id = reference, part } = /^(?<id>.+)\/refund-(?<part>\d+)$/.exec(reference)?.groups ?? {};
  if (id.startsWith('unmatched-'))
    return { kind: 'unmatchedRefund', id: id.slice('unmatched-'.length), part: Number(part ?? 1) };
  if (part !== undefined) return { kind: 'refund', id, part: Number(part) };
  if (reference.startsWith('operation-'))
    return { kind: 'operation', id: reference.slice('operation-'.length), part: 1 };
  const transit = /^rebalance-(?<id>.+)\/(?<part>burn|mint)$/.exec(reference)?.groups;
  if (transit?.id !== undefined) return { kind: 'rebalance', id: transit.id, part: transit.part === 'burn' ? 1 : 2 };
  if (reference.startsWith('batch-')) return { kind: 'batch', id: reference.slice('batch-'.length), part: 1 };
  return { kind: 'payout', id: reference, part: 1 };
}

/** Of what uses up a nonce and is no transfer. */
export const cancelReference = (nonce: bigint | null): string => `nonce ${nonce}`;

/** Whether limits count it as money that leaves. */
export const moneyLeaves = (kind: PurposeKind): boolean =>
  kind === 'payout' || kind === 'refund' || kind === 'withdrawal' || kind === 'batch' || kind === 'burn';
