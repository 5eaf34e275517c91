/** What each chain family implements of outgoing transfers: how they are made, what became of them, who may sign. */

import type { ChainId } from '../domain/chains.ts';
import type { Refusal } from '../domain/decider.ts';
import type { RelayEnd } from '../domain/relay/events.ts';
import type { Instant } from '../domain/time.ts';
import type { Order, Owed } from '../domain/transfer/leg.ts';
import type { Outcome, Seen } from '../domain/transfer/record.ts';
import type {
  AssetRef,
  Cost,
  LandedAt,
  PaidTogether,
  SignedAttempt,
  TransferKey,
  TransferKind,
} from '../domain/transfer/shapes.ts';
import type { BlockReason, SigningReason } from '../domain/transfer/waiting.ts';
import type { Purpose } from '../domain/treasury/events.ts';
import type { Dispute } from './chainPorts.ts';
import type { Loaded } from './handle.ts';
import { TransientError } from './ports.ts';

/** One transfer to make. */
export interface TransferOrder extends Order {
  /** Of its key (domain/transfer/shapes.ts). No chain shows it. Where there are no nonces, equal transfers are told apart by what is derived from it. */
  readonly reference?: string;
  /**
   * For a reference that nobody else knows before it is used: one more than attempts of the transfer that failed on the chain, so that each
   * is used once there. Left out where the reference is the public one, for payments from before there were others.
   */
  readonly referenceOrdinal?: number;
  /** Hashes of its attempts before, all dead: none of them must show, and what is offered for haste may rise with their number. */
  readonly earlier?: readonly string[];
  /** Whether it pays for the receiver's account for the token: with false it fails where there is none. Left out: it pays if need be. */
  readonly opensAccount?: boolean;
  /** What other transfers that are signed, and that no balance shows yet, will take of the token, in smallest units. */
  readonly spokenFor?: bigint;
}

/** A transaction that lacks only its signature. `payload` is the family's own serialisable form. */
export interface Unsigned {
  readonly chainId: ChainId;
  /** Whose nonce it uses up. */
  readonly account: string;
  readonly nonce: bigint | null;
  readonly order: TransferOrder;
  readonly validUntil: string | null;
  readonly fee: Readonly<Record<string, string>>;
  readonly payload: unknown;
}

export interface Signed {
  readonly bytes: string;
  readonly hash: string;
}

export type Fate =
  /** No node knows any of the attempts, or none answered: broadcast the stored bytes again. */
  | { readonly kind: 'unknown' }
  /** Waiting to be mined, or `mined` and not yet final. With a dispute, only its end can decide more. */
  | { readonly kind: 'pending'; readonly mined: boolean; readonly dispute?: Dispute }
  /** Decided: final at the payout depth of configuration, for as many nodes as must agree. */
  | Outcome;

export const isDecided = (fate: Fate): fate is Outcome => fate.kind !== 'unknown' && fate.kind !== 'pending';

/** What was signed and maybe sent, as far as its fate depends on it. */
export type Sent = Pick<
  SignedAttempt,
  'attempt' | 'account' | 'nonce' | 'hash' | 'bytes' | 'validUntil' | 'token' | 'receiver' | 'amount' | 'signedAt'
> &
  Pick<Order, 'form'>;

/** Where a transaction landed. */
export interface Settled {
  readonly hash: string;
  readonly blockNumber: bigint;
  readonly blockHash: string;
  /** Left out where the node does not tell: the books of the account show the difference then. */
  readonly cost?: Cost;
}

/** The same as events hold it; undefined where its cost is not known. */
export const landedAt = ({ hash, blockNumber, blockHash, cost }: Settled): LandedAt | undefined =>
  cost && { hash, blockNumber: blockNumber.toString(), blockHash, cost };

/** An account whose nonces number transfers of the treasury. */
export interface NumberingAccount {
  readonly account: string;
  /** Its next nonce as the chain has mined it. */
  readonly minedNonce: bigint;
  /** Whether it has used up no nonce yet. */
  readonly unused: boolean;
}

/** One of several payouts that may be made in one transaction. */
export type MemberOrder = PaidTogether;

/** What a chain that can pay several receivers in one transaction offers. */
export interface Batching {
  /** Whom a batch's transaction is sent to. */
  readonly contract: string;
  /**
   * Which of these payouts of one token can be paid together, and more cheaply than by themselves. What it says is no promise: whether a
   * batch can be made is checked again before it is signed.
   * @returns two or more of them, by their payments, in their order; or none, and why
   */
  choose(token: AssetRef, orders: readonly MemberOrder[], signal: AbortSignal): Promise<ChosenTogether>;
}

export interface ChosenTogether {
  readonly together: readonly string[];
  readonly why?: string;
  /** Estimated for all of them together, and by themselves. */
  readonly gas?: bigint;
  readonly apart?: bigint;
}

/** What chains have in common whose transfers use up numbers of an account: the same number is used once, in ascending order. */
interface NumberedTransfers {
  /** The account's next number as the chain has mined it. */
  minedNonce(signal: AbortSignal): Promise<bigint>;
  /**
   * Checks float, gas and that the transfer would succeed, then builds it.
   * With `replaces`, the same nonce, receiver and amount at a fee high enough to replace it.
   * @param numberedBy account whose nonce it is. Default: the treasury's own.
   * @throws PayoutBlocked when it cannot be made now (float, gas, refused by the token): wait and raise an alarm, sign nothing.
   */
  prepare(order: TransferOrder, nonce: bigint, replaces?: SignedAttempt, numberedBy?: string): Promise<Unsigned>;
  /** Returns the same transaction under another nonce of its account, without a call to the chain. */
  numbered(unsigned: Unsigned, nonce: bigint): Unsigned;
  /**
   * Builds a transaction that only uses up a nonce whose purpose is gone.
   * @param outbid the fees of one that is to be replaced
   * @throws PayoutBlocked when outbidding would cost more than the configured maximum
   */
  prepareCancel(nonce: bigint, numberedBy?: string, outbid?: Pick<SignedAttempt, 'fee'>): Promise<Unsigned>;
}

/** Nonces of the treasury's account alone. */
export interface NonceNumbering extends NumberedTransfers {
  readonly kind: 'nonce';
  /**
   * Returns the next nonce if enough nodes agree on it, else null. The history of an account begins with it: no nonce below it is ever
   * assigned, so one node's answer is not enough. @throws Unavailable
   */
  provenNonce(): Promise<bigint | null>;
}

/** Sequence numbers of the treasury's account and of further accounts, so that more transfers land at a time. A number that is too high only skips some. */
export interface SequenceNumbering extends NumberedTransfers {
  readonly kind: 'sequence';
  /** Returns the treasury's account and the further ones that exist on the chain. */
  accounts(signal: AbortSignal): Promise<readonly NumberingAccount[]>;
}

/** No numbers: signed bytes expire. They can not be replaced, so nothing else is signed for a transfer before its last attempt is dead. */
export interface ExpiringNumbering {
  readonly kind: 'expiring';
  /**
   * Checks float, gas and that the transfer would succeed, then builds it.
   * @throws PayoutBlocked when it cannot be made now (float, gas, refused by the token): wait and raise an alarm, sign nothing.
   */
  prepare(order: TransferOrder): Promise<Unsigned>;
}

/** How a chain keeps a transfer from landing twice. */
export type Numbering = NonceNumbering | SequenceNumbering | ExpiringNumbering;

/** Makes transfers from one treasury account on one chain. */
export type PayoutRail<N extends Numbering = Numbering> = N extends Numbering ? RailOf<N> : never;

interface RailOf<N extends Numbering> {
  /** Left out where every payout is a transaction of its own. */
  readonly batching?: Batching;
  readonly chainId: ChainId;
  readonly account: string;
  readonly numbering: N;
  /** Sends bytes; idempotent: known, mined or outbid bytes are no error. @throws BroadcastRefused when every node that answers refuses them */
  broadcast(bytes: string): Promise<void>;
  /** What a node means that refuses bytes in these words, in one word; `unknown` for new words. Left out where nodes answer with codes. */
  refusalKind?(detail: string): string;
  /** What became of attempts that share one nonce. A missing answer is `unknown`, never a failure. */
  fate(attempts: readonly Sent[], signal: AbortSignal): Promise<Fate>;
  /** Whether the chain may still take the bytes: false only when it provably cannot, whether it took them before or not. */
  canLand(sent: Sent, signal: AbortSignal): Promise<boolean>;
  /** Whether an attempt that was final is still on the chain: false only when its block left it, for all nodes that can say. */
  stillFinal(settled: Settled, signal: AbortSignal): Promise<boolean>;
  /** What any transfer costs in the chain's own coin, smallest units, if fees rise as they may while a payment waits. */
  transferCost(signal: AbortSignal): Promise<bigint>;
  /** What a transfer to this receiver costs besides. Left out where all receivers cost the same. */
  receiverCost?(to: Pick<TransferOrder, 'token' | 'receiver'>, signal: AbortSignal): Promise<ReceiverCost>;
  /** Of the account: the chain's own coin, and each catalogue token by its address as the catalogue spells it; smallest units. */
  balances(signal: AbortSignal): Promise<{ readonly gas: bigint; readonly tokens: Readonly<Record<string, bigint>> }>;
}

/** Rail of a chain whose transfers have nonces or sequence numbers. */
export type NumberedRail = PayoutRail<NonceNumbering | SequenceNumbering>;

export const isNumbered = (rail: PayoutRail): rail is NumberedRail => rail.numbering.kind !== 'expiring';

export interface ReceiverCost {
  /** Of the chain's coin, in smallest units. */
  readonly coin: bigint;
  /** Whether that is for the receiver's account for the token. Left out where none is needed. */
  readonly opensAccount?: boolean;
}

/** Every node that answers refuses the bytes. They are sent again, never set aside: later payouts wait for the nonce that they hold. */
export class BroadcastRefused extends TransientError {
  override readonly name = 'BroadcastRefused';
  /** The nodes' own words. */
  readonly refusals: readonly string[];
  constructor(message: string, refusals: readonly string[] = []) {
    super(message);
    this.refusals = refusals;
  }
}

/** The transfer cannot be made at present; nothing was signed. The message says what an operator must do. */
export class PayoutBlocked extends Error {
  override readonly name = 'PayoutBlocked';
  readonly reason: BlockReason;
  /** Of a relay that no later try can make: how it ends. */
  readonly ends: RelayEnd | null;
  constructor(reason: PayoutBlocked['reason'], message: string, ends: RelayEnd | null = null) {
    super(message);
    this.reason = reason;
    this.ends = ends;
  }
}

export interface SigningPurpose extends Pick<Purpose, 'kind' | 'reference'> {
  /** Whose payment it is; left out for what is the treasury's own. */
  readonly appId?: string;
}

/** The signer refuses; no signature was made. `reason` is stable, the message names the limit. */
export class SigningRefused extends Error {
  override readonly name = 'SigningRefused';
  readonly reason: SigningReason;
  constructor(reason: SigningRefused['reason'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** The only holder of treasury keys. Enforces limits: chain, token contracts, most per transfer and per hour. */
export interface Signer {
  readonly account: string;
  /** Throws if it would not sign this now. Asked before a nonce is taken: a nonce without a transaction blocks the account. @throws SigningRefused */
  check(unsigned: Unsigned, purpose: SigningPurpose): void | Promise<void>;
  /** @throws SigningRefused */
  sign(unsigned: Unsigned, purpose: SigningPurpose): Promise<Signed>;
}

// Every transfer that leaves the treasury's keys goes one way: decide in a stream → nonce, sequence or blockhash → sign → append the bytes
// → broadcast → fate. The engine here does all but the deciding; each stream that may owe a transfer is an owner.

/** A transfer as its stream has it now, with what the engine needs to carry it out. */
export interface Outgoing extends Owed {
  /** The leg's order with what chains need besides. What earlier attempts and other transfers mean for it the engine adds. */
  readonly order: TransferOrder;
  /** False while an operator holds it: what is signed may land, and is not outbid. */
  readonly mayOutbid: boolean;
  /** Since when it is owed: what cannot be made for long is tried more seldom. */
  readonly owedSince: Instant;
}

/** How many events were appended; 0 when it was recorded before. */
export type Recorded = Promise<{ readonly appended: number } | Refusal>;

/** @throws PayoutBlocked when the money that a transfer is made from has left */
export type StillFunded = () => Promise<void>;

/** Of a transfer that is made of no money that came in, or of which something may land already. */
export const nothingToProve: StillFunded = async () => {};

/**
 * The streams of one kind of transfers. Each method decides in the stream, at an exact revision: two instances may both ask, one of the two
 * appends. A refusal is an expected answer. All may throw Unavailable.
 */
export interface TransferOwner {
  /** Undefined where the stream owes no such transfer. */
  load(key: TransferKey, how?: Loaded): Promise<Outgoing | undefined>;
  /** Orders what `load` said is to be ordered (step `order`); left out where whoever decides orders it. */
  order?(key: TransferKey): Recorded;
  /** Has other streams get what this one decided (steps `tell` and `batched`), or this one get it from another. Left out where there are none. */
  tell?(key: TransferKey): Recorded;
  /**
   * Told that nothing can be signed for it at present. Left out where it waits until that changes.
   * @returns whether it does not wait: its next step is another one
   */
  cannotSign?(key: TransferKey, why: PayoutBlocked | SigningRefused): Promise<boolean>;
  /**
   * Appends signed bytes. Only bytes that were read back from the stream are sent.
   * @param attempt of what `load` said is to be signed, or outbids the one before under the same nonce
   */
  sign(key: TransferKey, attempt: SignedAttempt): Recorded;
  /** Appends what became of attempts: one settled, or landed short, or some can never land. */
  conclude(key: TransferKey, outcome: Outcome): Recorded;
  /** Appends that the block of a settled attempt left its chain; its bytes are sent again. Nothing when another one was meant. */
  orphan(key: TransferKey, seen: Seen): Recorded;
  /**
   * Proves, before anything is signed, that the money is there that the transfer is made from. Left out where it needs no proof.
   * @returns asks again right before the signature, for others may be in turn meanwhile
   * @throws PayoutBlocked
   */
  proveFunding?(key: TransferKey, signal: AbortSignal): Promise<StillFunded>;
}

/** A kind without an owner is left alone. */
export type TransferOwners = Readonly<Partial<Record<TransferKind, TransferOwner>>>;

export const loadFrom = async (
  owners: TransferOwners,
  key: TransferKey,
  how: Loaded = {},
): Promise<Outgoing | undefined> => owners[key.kind]?.load(key, how);
