/** Mints of rebalances, as a chain's nodes return them. */

export interface MintFound {
  readonly hash: string;
  readonly blockNumber: bigint;
  readonly blockHash: string;
  /** Amount of the token that our account received in that transaction, in smallest units. */
  readonly received: bigint;
}

export interface MintAsked {
  /** 64 hex digits. */
  readonly nonce: string;
  readonly account: string;
  readonly token: string;
}

export interface MintReader {
  /** Newest final block of the node that is most behind. @throws ChainUnavailable */
  finalBlock(signal: AbortSignal): Promise<bigint>;
  /** The final transaction that minted the message, as all nodes that answer return it; null if they do not agree or there is none. @throws ChainUnavailable */
  mintOf(asked: MintAsked, signal: AbortSignal): Promise<MintFound | null>;
}
