/** One chain's end of LayerZero's messages, as the sandbox's executor uses it. */
import type { Hex } from 'viem';
import type { Usdt0ChainId } from '../domain/rebalance/usdt0.ts';

export interface Packet {
  readonly from: Usdt0ChainId;
  readonly to: Usdt0ChainId;
  readonly nonce: bigint;
  /** 32 bytes, as the guid. */
  readonly sender: Hex;
  readonly receiver: Hex;
  readonly guid: Hex;
  readonly message: Hex;
  verified: boolean;
  /** Its delivery was reverted. */
  failed: boolean;
}

/** One chain's end of the messages. Its calls return false if the chain refuses them. */
export interface MessageSide {
  /** Encoded packets that were sent since the last call. */
  sent(): Promise<readonly Hex[]>;
  /** True also if another account delivered it. */
  isDelivered(packet: Packet): Promise<boolean>;
  verify(packet: Packet, payloadHash: Hex): Promise<boolean>;
  deliver(packet: Packet, message: Hex): Promise<boolean>;
  /** Reports a delivery that failed, for a chain whose executor does so. */
  alert?(packet: Packet, message: Hex): Promise<boolean>;
}
