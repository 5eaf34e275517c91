/**
 * Every transfer that leaves the treasury's keys goes one way: decide in a stream → nonce, sequence or blockhash → sign → append the bytes
 * → broadcast → fate. The engine here does all but the deciding; each stream that may owe a transfer is an owner.
 */
import type { Refusal } from '../domain/decider.ts';
import type { Instant } from '../domain/time.ts';
import type { TransferKey, TransferKind } from '../domain/transfer/key.ts';
import type { Owed } from '../domain/transfer/owed.ts';
import type { Outcome, Seen } from '../domain/transfer/record.ts';
import type { SignedAttempt } from '../domain/transfer/shapes.ts';
import type { Loaded } from './handle.ts';
import type { TransferOrder } from './transferPorts.ts';

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
  cannotSign?(key: TransferKey, why: string): Promise<boolean>;
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
