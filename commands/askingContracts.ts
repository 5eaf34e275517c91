/** How much may be spent on asking contract wallets whether they have signed: the contracts are strangers', the nodes are ours. */

/** Asked at a time. Each costs nodes a call on every chain that the contract paid from. */
export interface AskingPlaces {
  /** So that one slow contract leaves places to the others. */
  readonly perContract: number;
  readonly perInstance: number;
}

export const askingPlaces: AskingPlaces = { perContract: 2, perInstance: 20 };

/** Of one call of one node. */
export const askingLimits = {
  /** A contract that burns more is not waited for. */
  gas: 3_000_000n,
  /** A node that takes longer has not answered. */
  time_ms: 5_000,
  /** A yes is one word. What is longer is cut off and no yes. */
  answer_bytes: 16_384,
} as const;
