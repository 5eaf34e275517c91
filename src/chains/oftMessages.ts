/** Sends and arrivals of USDT0, as a chain's nodes return them. */
import { address32 } from '../../domain/rebalance/burnMessage.ts';
import { endpointIdOf, oftOn, type Usdt0ChainId } from '../../domain/rebalance/usdt0.ts';
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
  /** Present message fee of a send, in the smallest unit of the coin. @throws ChainUnavailable */
  quote(asked: Omit<SendAsked, 'hash' | 'account'>, signal: AbortSignal): Promise<bigint>;
}

/** Length of a message of USDT0 without a call on the destination: recipient (32 bytes) and amount (8 bytes). */
const plainMessage_bytes = 40;

/** Fields of a packet before its message, in bytes: version, nonce, path, id. Source: PacketV1Codec.sol of LayerZero. */
const packet = {
  version: [0, 1],
  nonce: [1, 8],
  source: [9, 4],
  sender: [13, 32],
  destination: [45, 4],
  receiver: [49, 32],
  guid: [81, 32],
  recipient: [113, 32],
  amount: [145, 8],
} as const;
const packet_bytes = 113 + plainMessage_bytes;

/**
 * Returns the message of these packets with the id, if it is exactly the one that a send describes; null for any other.
 * @param packets `0x` and hex digits @param guid `0x` and lower-case hex digits @param sent amount in the 6 decimals of messages
 */
export function findSentMessage(
  packets: readonly string[],
  guid: string,
  { from, to, recipient, amount }: Pick<SendAsked, 'to' | 'recipient' | 'amount'> & { readonly from: Usdt0ChainId },
): SentMessage | null {
  const encoded = packets.find((payload) => `0x${field(payload, 'guid')}` === guid);
  if (encoded === undefined || (encoded.length - 2) / 2 !== packet_bytes) return null;
  const expected: Readonly<Partial<Record<keyof typeof packet, string>>> = {
    version: '01',
    source: word(endpointIdOf(from), 4),
    sender: address32(oftOn(from)),
    destination: word(endpointIdOf(to), 4),
    receiver: address32(oftOn(to)),
    recipient: address32(recipient),
    amount: word(amount, 8),
  };
  const isOurs = Object.entries(expected).every(
    ([name, digits]) => field(encoded, name as keyof typeof packet) === digits,
  );
  return isOurs ? { guid, nonce: BigInt(`0x${field(encoded, 'nonce')}`) } : null;
}

function field(payload: string, name: keyof typeof packet): string {
  const [at, bytes] = packet[name];
  return payload.slice(2 + 2 * at, 2 + 2 * (at + bytes)).toLowerCase();
}

const word = (value: bigint | number, bytes: number): string => value.toString(16).padStart(2 * bytes, '0');
