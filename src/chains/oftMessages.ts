/** Sends and arrivals of USDT0, as a chain's nodes return them. */
import type { Usdt0ChainId } from '../../domain/rebalance/usdt0.ts';
import type { MintFound } from './mints.ts';

/** A message that a send left with LayerZero. */
export interface SentMessage {
  /** `0x` and 64 hex digits. */
  readonly guid: string;
  /** Number on its path, from one contract to another. */
  readonly nonce: bigint;
}

export interface SendAsked {
  /** Hash of the send's transaction. */
  readonly hash: string;
  readonly account: string;
  readonly to: Usdt0ChainId;
  readonly recipient: string;
  /** In smallest units. */
  readonly amount: bigint;
}

export interface ArrivalAsked extends SentMessage {
  readonly from: Usdt0ChainId;
  readonly account: string;
  readonly token: string;
}

/** Place of a message on its destination: not verified yet, verified and deliverable by any account, or delivered. */
export type MessageState = 'unverified' | 'verified' | 'delivered';

export interface OftMessages {
  /**
   * Returns the message of a send of ours, as all nodes that answer return it; null if they do not agree, or the transaction sent another
   * message. @throws ChainUnavailable
   */
  sentBy(asked: SendAsked, signal: AbortSignal): Promise<SentMessage | null>;
  /** Returns the final transaction that delivered the message, as all nodes that answer return it; null for none. @throws ChainUnavailable */
  arrivalOf(asked: ArrivalAsked, signal: AbortSignal): Promise<MintFound | null>;
  /** State of the message on this chain, by one node. @throws ChainUnavailable */
  stateOf(asked: Pick<ArrivalAsked, 'from' | 'nonce'>, signal: AbortSignal): Promise<MessageState>;
  /** Present message fee of a send, in wei. @throws ChainUnavailable */
  quote(asked: Omit<SendAsked, 'hash' | 'account'>, signal: AbortSignal): Promise<bigint>;
}
