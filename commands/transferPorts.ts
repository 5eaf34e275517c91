/** Ports for outgoing transfers that each chain family implements: building them, their fate, and signing. */

import type { ChainId } from '../domain/chains.ts';
import type { Refusal } from '../domain/decider.ts';
import type { RelayEnd } from '../domain/relay/events.ts';
import type { Instant } from '../domain/time.ts';
import type { Order, Owed } from '../domain/transfer/leg.ts';
import type { Outcome, Seen } from '../domain/transfer/record.ts';
import type {
  AssetRef,
  BlockReason,
  Cost,
  LandedAt,
  PaidTogether,
  SignedAttempt,
  SigningReason,
  TransferKey,
  TransferKind,
} from '../domain/transfer/shapes.ts';
import type { Purpose } from '../domain/treasury/events.ts';
import type { Dispute } from './chainPorts.ts';
import type { Loaded } from './handle.ts';
import { TransientError } from './ports.ts';

/** One transfer to make. */
export interface TransferOrder extends Order {
  /**
   * Reference of its key (domain/transfer/shapes.ts). It never appears on a chain. Without nonces, a value derived from it distinguishes
   * equal transfers.
   */
  readonly reference?: string;
  /**
   * For a secret reference: one more than the transfer's failed attempts on the chain, so each derived value is used once there. Omitted if
   * the reference is public, for payments of older versions.
   */
  readonly referenceOrdinal?: number;
  /** Hashes of its earlier attempts, all dead: none may appear on the chain, and the offered priority fee may rise with their number. */
  readonly earlier?: readonly string[];
  /** True if it pays for opening the receiver's account for the token; with false it fails if there is none. Default: it pays if needed. */
  readonly opensAccount?: boolean;
  /** Amount of the token, in smallest units, that other signed transfers will use and no balance reflects yet. */
  readonly spokenFor?: bigint;
}

/** A transaction that only lacks its signature. `payload` is the family's own serialisable form. */
export interface Unsigned {
  readonly chainId: ChainId;
  /** Account whose nonce it uses up. */
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
  /** Waiting to be mined, or `mined` and not yet final. With a dispute, nothing is decided before the dispute ends. */
  | { readonly kind: 'pending'; readonly mined: boolean; readonly dispute?: Dispute }
  /** Decided: final at the configured payout depth, for the required number of nodes. */
  | Outcome;

export const isDecided = (fate: Fate): fate is Outcome => fate.kind !== 'unknown' && fate.kind !== 'pending';

/** The parts of a signed and possibly sent attempt that its fate depends on. */
export type Sent = Pick<
  SignedAttempt,
  'attempt' | 'account' | 'nonce' | 'hash' | 'bytes' | 'validUntil' | 'token' | 'receiver' | 'amount' | 'signedAt'
> &
  Pick<Order, 'form'>;

/** Block of a landed transaction. */
export interface SettledAt {
  readonly hash: string;
  readonly blockNumber: bigint;
  readonly blockHash: string;
  /** Omitted if the node does not return it: the account's books then reveal the difference. */
  readonly cost?: Cost;
}

/** As stored in events; undefined if its cost is unknown. */
export const landedAt = ({ hash, blockNumber, blockHash, cost }: SettledAt): LandedAt | undefined =>
  cost && { hash, blockNumber: blockNumber.toString(), blockHash, cost };

/** An account whose nonces number the treasury's transfers. */
export interface NumberingAccount {
  readonly account: string;
  /** Its next nonce as the chain has mined it. */
  readonly minedNonce: bigint;
  /** True if it has used up no nonce yet. */
  readonly unused: boolean;
}

/** One of several payouts for a single transaction. */
export type MemberOrder = PaidTogether;

/** Port of a chain that can pay several receivers in one transaction. */
export interface Batching {
  /** Contract that a batch's transaction is sent to. */
  readonly contract: string;
  /**
   * Chooses payouts of one token that are cheaper together than alone. Not binding: a batch is checked again before it is signed.
   * @returns two or more of them, by payment, in order; or none, and the reason
   */
  choose(token: AssetRef, orders: readonly MemberOrder[], signal: AbortSignal): Promise<ChosenTogether>;
}

export interface ChosenTogether {
  readonly together: readonly string[];
  readonly why?: string;
  /** Estimated for the batch, and for single payouts. */
  readonly gas?: bigint;
  readonly apart?: bigint;
}

/** Common port of chains whose transfers use up an account's numbers: each number is used once, in ascending order. */
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
  /** Omitted if every payout is a separate transaction. */
  readonly batching?: Batching;
  readonly chainId: ChainId;
  readonly account: string;
  readonly numbering: N;
  /** Sends bytes; idempotent: known, mined or outbid bytes are no error. @throws BroadcastRefused when every node that answers refuses them */
  broadcast(bytes: string): Promise<void>;
  /** Classifies a node's refusal text; `unknown` for new texts. Omitted if nodes return codes. */
  refusalKind?(detail: string): string;
  /** Fate of attempts that share one nonce. A missing answer is `unknown`, never a failure. */
  fate(attempts: readonly Sent[], signal: AbortSignal): Promise<Fate>;
  /** False only if the chain provably can no longer accept the bytes, whether it accepted them before or not. */
  canLand(sent: Sent, signal: AbortSignal): Promise<boolean>;
  /** False only if a final attempt's block left the chain, according to all answering nodes. */
  stillFinal(settled: SettledAt, signal: AbortSignal): Promise<boolean>;
  /** Cost of any transfer in the chain's coin, smallest units, including a possible rise of fees while a payment waits. */
  transferCost(signal: AbortSignal): Promise<bigint>;
  /** Additional cost of a transfer to this receiver. Omitted if all receivers cost the same. */
  receiverCost?(to: Pick<TransferOrder, 'token' | 'receiver'>, signal: AbortSignal): Promise<ReceiverCost>;
  /** Balances of the account: coin, and each catalogue token by its address in the catalogue's spelling; smallest units. */
  balances(signal: AbortSignal): Promise<{ readonly gas: bigint; readonly tokens: Readonly<Record<string, bigint>> }>;
}

/** Rail of a chain whose transfers have nonces or sequence numbers. */
export type NumberedRail = PayoutRail<NonceNumbering | SequenceNumbering>;

export const isNumbered = (rail: PayoutRail): rail is NumberedRail => rail.numbering.kind !== 'expiring';

export interface ReceiverCost {
  /** Amount of the chain's coin, in smallest units. */
  readonly coin: bigint;
  /** True if the cost includes opening the receiver's account for the token. Omitted if none is needed. */
  readonly opensAccount?: boolean;
}

/** Every answering node refuses the bytes. They are sent again, never set aside: later payouts wait for their nonce. */
export class BroadcastRefused extends TransientError {
  override readonly name = 'BroadcastRefused';
  /** The nodes' own words. */
  readonly refusals: readonly string[];
  constructor(message: string, refusals: readonly string[] = []) {
    super(message);
    this.refusals = refusals;
  }
}

/** The transfer cannot be built at present; nothing was signed. The message says what an operator must do. */
export class PayoutBlocked extends Error {
  override readonly name = 'PayoutBlocked';
  readonly reason: BlockReason;
  /** End of a relay that no later try can send. */
  readonly ends: RelayEnd | null;
  /** Transaction of somebody else that moved exactly what the relay was to move; null if none is known. */
  readonly movedBy: string | null;
  constructor(
    reason: PayoutBlocked['reason'],
    message: string,
    ends: RelayEnd | null = null,
    movedBy: string | null = null,
  ) {
    super(message);
    this.reason = reason;
    this.ends = ends;
    this.movedBy = movedBy;
  }
}

export interface SigningPurpose extends Pick<Purpose, 'kind' | 'reference'> {
  /** App of the payment; omitted for the treasury's own transfers. */
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

/** The only holder of treasury keys. Enforces limits: chain, token contracts, maximum per transfer and per hour. */
export interface Signer {
  readonly account: string;
  /**
   * Throws if it would not sign this now. Called before a nonce is assigned: a nonce without a transaction blocks the account. @throws
   * SigningRefused
   */
  check(unsigned: Unsigned, purpose: SigningPurpose): void | Promise<void>;
  /** @throws SigningRefused */
  sign(unsigned: Unsigned, purpose: SigningPurpose): Promise<Signed>;
}

// Every outgoing transfer of the treasury follows one path: decide in a stream → nonce, sequence or blockhash → sign → append the bytes →
// broadcast → fate. The engine here does everything except the decision; each stream that may owe a transfer is an owner.

/** A transfer in its stream's current state, with everything that the engine needs to carry it out. */
export interface Outgoing extends Owed {
  /** The leg's order plus the chain's needs. The engine adds the effects of earlier attempts and other transfers. */
  readonly order: TransferOrder;
  /** False while an operator holds it: signed bytes may land, and are not outbid. */
  readonly mayOutbid: boolean;
  /** Time since which it is owed: a long-blocked transfer is retried less often. */
  readonly owedSince: Instant;
}

/** Number of appended events; 0 if it was recorded before. */
export type AppendResult = Promise<{ readonly appended: number } | Refusal>;

/** @throws PayoutBlocked if the funding money has left its chain */
export type StillFunded = () => Promise<void>;

/** For a transfer that no incoming money funds, or with an attempt that may land already. */
export const nothingToProve: StillFunded = async () => {};

/**
 * Streams of one kind of transfers. Each method decides in the stream at an exact revision: of two concurrent instances one appends. A
 * refusal is an expected answer. All may throw Unavailable.
 */
export interface TransferOwner {
  /** Undefined if the stream owes no such transfer. */
  load(key: TransferKey, how?: Loaded): Promise<Outgoing | undefined>;
  /** Orders the transfer that `load` returned (step `order`). Omitted if another actor orders it. */
  order?(key: TransferKey): AppendResult;
  /**
   * Copies this stream's decision to other streams, or another stream's decision to this one (steps `tell` and `batched`). Omitted if there
   * are none.
   */
  tell?(key: TransferKey): AppendResult;
  /**
   * Reports that nothing can be signed for it at present. Omitted if it waits until that changes.
   * @returns true if it does not wait: it has another next step
   */
  cannotSign?(key: TransferKey, why: PayoutBlocked | SigningRefused): Promise<boolean>;
  /**
   * Appends signed bytes. Only bytes that were read back from the stream are sent.
   * @param attempt for the order that `load` returned, or a fee bump of the previous attempt with the same nonce
   */
  sign(key: TransferKey, attempt: SignedAttempt): AppendResult;
  /** Appends the outcome of attempts: one settled, or landed short, or some can never land. */
  conclude(key: TransferKey, outcome: Outcome): AppendResult;
  /** Appends that the block of a settled attempt left its chain; its bytes are sent again. Appends nothing if another block was meant. */
  orphan(key: TransferKey, seen: Seen): AppendResult;
  /**
   * Proves, before anything is signed, that the funding money is on its chain. Omitted if it needs no proof.
   * @returns a second check right before the signature, because other transfers may have run in between
   * @throws PayoutBlocked
   */
  proveFunding?(key: TransferKey, signal: AbortSignal): Promise<StillFunded>;
}

/** The engine ignores a kind without an owner. */
export type TransferOwners = Readonly<Partial<Record<TransferKind, TransferOwner>>>;

export const loadFrom = async (
  owners: TransferOwners,
  key: TransferKey,
  how: Loaded = {},
): Promise<Outgoing | undefined> => owners[key.kind]?.load(key, how);
