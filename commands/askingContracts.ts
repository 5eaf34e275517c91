/** Limits on queries of contract wallets for signatures: the contracts belong to strangers, the nodes to the operator. */

/** Maximum concurrent queries. Each costs nodes a call on every chain that the contract paid from. */
export interface AskingPlaces {
  /** Maximum per contract, so one slow contract leaves capacity for others. */
  readonly perContract: number;
  readonly perInstance: number;
}

export const askingPlaces: AskingPlaces = { perContract: 2, perInstance: 20 };

/** Limits of one call of one node. */
export const askingLimits = {
  /** Gas limit of the call. */
  gas: 3_000_000n,
  /** Timeout of the node. */
  time_ms: 5_000,
  /** A positive answer is one word. A longer answer is cut off and counts as negative. */
  answer_bytes: 16_384,
} as const;
