/**
 * Every transfer that leaves the treasury's keys goes one way: decide in a stream → nonce, sequence or blockhash → sign → append the bytes
 * → broadcast → fate. The engine here does all but the deciding; each stream that may owe a transfer is an owner.
 */
import type { Refusal } from '../../domain/decider.ts';
import type { Instant } from '../../domain/time.ts';
import type { TransferKey, TransferKind } from '../../domain/transfer/key.ts';
import type { TransferLeg } from '../../domain/transfer/leg.ts';
import type { SignedAttempt } from '../../domain/transfer/shapes.ts';
import type { TransferStep } from '../../domain/transfer/step.ts';
import type { SigningPurpose, TransferOrder } from './ports.ts';
import type { Decided } from './settle.ts';

/** A transfer as its stream has it now. */
export interface Outgoing {
  readonly key: TransferKey;
  /** Whose limits it counts for; null for what is the treasury's own. */
  readonly appId: string | null;
  /** What limits count it as, and what nodes' nonces and signers know it by: its kind, and its key in one text (`referenceOf`). */
  readonly purpose: Pick<SigningPurpose, 'kind' | 'reference'>;
  /** Of one that is not ordered yet, the leg that it will have. */
  readonly leg: TransferLeg;
  /** The leg's order with what the chains need besides. What earlier attempts and other transfers mean for it the engine adds. */
  readonly order: TransferOrder;
  readonly step: TransferStep;
  /** Whether what is signed may be outbid: not while an operator holds it. */
  readonly mayOutbid: boolean;
  /** Since when it is owed: what cannot be made for long is tried more seldom. */
  readonly owedSince: Instant;
}

/** How many events were appended; 0 when it was recorded before. */
export type Recorded = Promise<{ readonly appended: number } | Refusal>;

/** @throws PayoutBlocked when the money that the transfer is made from has left */
export type StillFunded = () => Promise<void>;

/**
 * The streams of one kind of transfers. Each method decides in the stream, at an exact revision: two instances may both ask, one of the two
 * appends. A refusal is an expected answer. All may throw Unavailable.
 */
export interface TransferOwner {
  /** Undefined where the stream owes no such transfer. */
  load(key: TransferKey): Promise<Outgoing | undefined>;
  /** Orders what `load` said is to be ordered (step `order`); left out where whoever decides orders it. */
  order?(key: TransferKey): Recorded;
  /**
   * Appends signed bytes. Only bytes that were read back from the stream are sent.
   * @param attempt of what `load` said is to be signed, or outbids the one before under the same nonce
   */
  sign(key: TransferKey, attempt: SignedAttempt): Recorded;
  /** Appends what became of attempts: one settled, or landed short, or some can never land. */
  settle(key: TransferKey, fate: Decided): Recorded;
  /** Appends that the block of a settled attempt left its chain; its bytes are sent again. Nothing when another one was meant. */
  unsettle(key: TransferKey, seen: { readonly hash: string; readonly blockHash: string }): Recorded;
  /**
   * Proves, before anything is signed, that the money is there that the transfer is made from. Left out where it needs no proof.
   * @returns asks again right before the signature, for others may be in turn meanwhile
   * @throws PayoutBlocked
   */
  proveFunding?(key: TransferKey, signal: AbortSignal): Promise<StillFunded>;
}

export type TransferOwners = Readonly<Record<TransferKind, TransferOwner>>;
