/** Shapes that the events of all outgoing transfers share: part of the storage format, like the events themselves. */
import Type, { type Static } from 'typebox';
import { chainIds, tokenSymbols } from '../chains.ts';
import type { RefusalCode } from '../decider.ts';
import { coinSymbols } from '../money.ts';
import { Address, Amount, closed, Hash, Height, nullable, oneOf, SignedAmount, Text, Time } from '../schema.ts';

export const Attempt = Type.Integer({ minimum: 1, maximum: 10_000 });
export const Memo = nullable(Text(128));
/** Operator's reason, for merchants and support. */
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

/** Signed bytes and everything needed to resend them, replace them, or prove them dead. */
export const SignedAttempt = {
  attempt: Attempt,
  chainId: oneOf(chainIds),
  account: Address,
  /** EVM nonce, Stellar sequence; null on a chain without nonces. */
  nonce: nullable(Height),
  hash: Hash,
  bytes: Type.String({ minLength: 2, maxLength: 32_768 }),
  /** Last height or time, in the chain's own terms, at which it can accept the bytes; null = until replaced. */
  validUntil: nullable(Text(64)),
  /** Fee terms of the chain, for comparison with a fee bump. */
  fee: Type.Record(Type.String(), Type.String({ maxLength: 78 })),
  token: AssetRef,
  receiver: Address,
  receiverMemo: Memo,
  amount: Amount,
  signedAt: Time,
};

/** Cost of a landed transaction to the paying account, besides the ordered amount. Omitted in older events. */
export const Cost = Type.Object(
  {
    payer: Address,
    /** In the smallest unit of the chain's coin, like the rent. */
    fee: Amount,
    /**
     * Coin that left besides the fee: deposits into accounts that it opened, negative for deposits returned from closed accounts; or the
     * message fee that a send of USDT0 sent along. Omitted if zero.
     */
    rent: Type.Optional(SignedAmount),
    /** Debited amount of the ordered token, if it differs from the order. */
    left: Type.Optional(Amount),
  },
  closed,
);
const CostThere = { cost: Type.Optional(Cost) };

/** A transaction on its chain. */
export const Place = { hash: Hash, blockNumber: Height, blockHash: Hash };

/** A landed transaction that moved none of the ordered money. */
export const LandedAt = Type.Object({ ...Place, cost: Cost }, closed);

export const DeathProof = Type.Object(
  {
    /** declared: nodes prove only that it cannot land any more; an operator verified that it did not land. */
    reason: oneOf(['nonceUsed', 'reverted', 'validityPassed', 'declared']),
    detail: Text(400),
    /** Attempt that was included and reverted. */
    landed: Type.Optional(LandedAt),
  },
  closed,
);

/** Block of a landed attempt. */
export const Landed = { attempt: Attempt, ...Place };
export const Settled = { ...Landed, ...CostThere, confirmedAt: Time };
/** The attempt is final, and the receiver got less than ordered. */
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

/** Form of a transfer other than a plain token transfer. */

export type Form =
  /** Transfers the chain's own coin. */
  | { readonly kind: 'coin' }
  /** Collects the token from deposits into the treasury, which is the receiver. */
  | { readonly kind: 'flush'; readonly deposits: readonly FlushedDeposit[] }
  /** Deploys one of our contracts. Moves no money; the receiver is the contract's address. */
  | { readonly kind: 'deploy'; readonly contract: OurContract }
  /** Sets an allowance in smallest units: the contract, the receiver, may move the treasury's tokens on its order. Moves no money. */
  | { readonly kind: 'allow'; readonly contract: AllowedContract; readonly most: string }
  /** Writes a hash on the chain, as hex, as public evidence. Moves no money; the receiver is the treasury itself. */
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
  /** Sends USDT0 to the treasury on another chain. The receiver is the account that the token's log names: the locking contract, or nobody. */
  | {
      readonly kind: 'oftSend';
      /** Endpoint id. */
      readonly destinationDomain: number;
      /** The treasury's account there. */
      readonly recipient: string;
      /** Coin sent along, in the smallest unit. */
      readonly messageFee: string;
    }
  /** Mints for an attested burn. The receiver is the treasury itself, which gains the amount. */
  | { readonly kind: 'mint'; readonly message: string; readonly attestation: string }
  /** Pays several receivers in one transaction, in this order. The order's amount is their sum; its receiver is the contract. */
  | { readonly kind: 'payMany'; readonly payments: readonly PaidTogether[] }
  /** Sends a payer's EIP-3009 authorization to the token: the payer's money goes to the payment's deposit, the receiver. It moves no money of the treasury. */
  | {
      readonly kind: 'authorization';
      readonly deposit: FlushedDeposit;
      readonly payer: string;
      /** Seconds since 1970. */
      readonly validAfter: string;
      readonly validBefore: string;
      /** 32 bytes, in hex. */
      readonly nonce: string;
      /** r, s and v in hex. */
      readonly signature: string;
      /** Maximum cost of the first transaction, in the smallest unit of the chain's coin. */
      readonly costMax: string;
    }
  /**
   * Calls a token's `transfer` with a payer's authorization entry (Stellar): the payer's money goes to the treasury, and the id of the
   * receiver's M address is the payment's memo. It moves no money of the treasury.
   */
  | {
      readonly kind: 'authorizationEntry';
      readonly deposit: FlushedDeposit & { readonly memo: string };
      readonly payer: string;
      /** Last ledger that accepts the entry. */
      readonly validUntil: string;
      /** 64 bits with a sign, in decimal. */
      readonly nonce: string;
      /** The signed entry, XDR in hex. */
      readonly signature: string;
      /** Maximum cost of the first transaction, in stroops. */
      readonly costMax: string;
    }
  /**
   * Completes a transaction that a payer built and signed (Solana) with the signature of our relay account, which pays the fee: the payer's
   * money goes to the payment's deposit, the receiver. Before it, our account opens the deposit's token account if there is none. It moves
   * no money of the treasury.
   */
  | {
      readonly kind: 'payerTransaction';
      readonly deposit: FlushedDeposit;
      readonly payer: string;
      /** SHA-256 of the message, in hex. */
      readonly nonce: string;
      /** The payer's signature, then the message that it signs, in hex. */
      readonly signature: string;
      /** Maximum cost of the first transaction, in lamports. */
      readonly costMax: string;
    };

export const ourContracts = ['forwarder', 'payMany'] as const;
export type OurContract = (typeof ourContracts)[number];
/** Ours, the one that burns USDC for rebalances, and the one that locks USDT for them. */
export const allowedContracts = [...ourContracts, 'tokenMessenger', 'usdt0Adapter'] as const;
export type AllowedContract = (typeof allowedContracts)[number];

export interface PaidTogether {
  readonly paymentId: string;
  /** App whose limits it counts against. */
  readonly appId: string;
  readonly receiver: string;
  /** In smallest units. */
  readonly amount: bigint;
}

export interface FlushedDeposit {
  readonly address: string;
  /** Salt from which the address, or its key, is derived. */
  readonly salt: string;
}

const movesNothing: ReadonlySet<string> = new Set<Form['kind']>([
  'flush',
  'deploy',
  'allow',
  'anchor',
  'authorization',
  'authorizationEntry',
  'payerTransaction',
  'mint',
]);

/** Amount that an order uses of the treasury's token balance: flushes, deployments, allowances, anchors and mints pay nobody. */
export const floatTaken = ({ form, amount }: { readonly form?: Form; readonly amount: bigint }): bigint =>
  form && movesNothing.has(form.kind) ? 0n : amount;

/** Names of transfers in streams, nonce purposes, signer requests and to-do lists. */

/** Purpose of a nonce and a signature, as limits count it. */
export const purposeKinds = [
  'payout',
  'refund',
  'withdrawal',
  'sweep',
  'deployment',
  'cancel',
  'batch',
  'anchor',
  'relay',
  'burn',
  'mint',
] as const;
export type PurposeKind = (typeof purposeKinds)[number];

export const transferKinds = [
  'payout',
  'refund',
  'unmatchedRefund',
  'operation',
  'batch',
  'relay',
  'rebalance',
] as const;
/** Kind of the stream that owns a transfer: payment (payouts, refunds), unmatched money, treasury operation, batch, relay, rebalance. */
export type TransferKind = (typeof transferKinds)[number];

export interface TransferKey {
  readonly kind: TransferKind;
  /** Id of the stream: payment id, transfer id of unmatched money, operation id, batch id. */
  readonly id: string;
  /** Sequence number of a payment's refund, or of an unmatched transfer's refund; otherwise 1. */
  readonly part: number;
}

/**
 * Key as one text, unique among all transfers. A payout's text is its payment's id, which has no slash and no prefix of the other kinds.
 */
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
    case 'relay':
      return `relay-${id}`;
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
  if (reference.startsWith('relay-')) return { kind: 'relay', id: reference.slice('relay-'.length), part: 1 };
  return { kind: 'payout', id: reference, part: 1 };
}

/** Reference of a cancelled nonce, which has no transfer. */
export const cancelReference = (nonce: bigint | null): string => `nonce ${nonce}`;

/** True if limits count it as outgoing money. */
export const moneyLeaves = (kind: PurposeKind): boolean =>
  kind === 'payout' || kind === 'refund' || kind === 'withdrawal' || kind === 'batch' || kind === 'burn';

// Reasons why an owed transfer waits: nothing was signed for it, and the service retries it automatically.

/**
 * `treasuryBehindChain`: the chain has the transfer already, and the log does not. `fundingUnproven`: nodes do not return the money that
 * funds it, or the log contradicts itself about it. `historyUnproven`: nodes do not return the account's whole history, so it may have been
 * made already. `formUnknown`: this chain does not support the form. `owed`: a withdrawal would use money that payouts are owed.
 * `addressNotInBook`: an operator removed its receiver from the address book.
 */
export const blockReasons = [
  'float',
  'gas',
  'refusedByToken',
  'treasuryBehindChain',
  'fundingUnproven',
  'historyUnproven',
  'formUnknown',
  'owed',
  'addressNotInBook',
] as const;

export type BlockReason = (typeof blockReasons)[number];

/** `notOrdered`: the log, as the signer reads it, orders no such transfer. `signedBefore`: an earlier signature could land in addition. */
export const signingReasons = [
  'chain',
  'account',
  'fee',
  'mismatch',
  'perTransfer',
  'perHour',
  'appPerHour',
  'coinPerHour',
  'notOrdered',
  'signedBefore',
] as const;

export type SigningReason = (typeof signingReasons)[number];

/** Reasons about the numbering account, or about all attempts of a transfer. */
export const accountReasons = [
  'treasuryBusy',
  'treasuryPaused',
  'treasuryBehindChain',
  'attemptsSpent',
] as const satisfies readonly RefusalCode[];

export const waitReasons = [...new Set([...blockReasons, ...signingReasons, ...accountReasons])];
export type WaitReason = (typeof waitReasons)[number];
