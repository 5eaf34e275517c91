/** How much one call may ask of a node, as its refusals have shown. */

/** Calls of a batch, blocks of a search for logs, accounts of Solana. */
export type Measure = 'calls' | 'logBlocks' | 'accounts';

export interface NodeLimits {
  /** Undefined as long as it has refused nothing. */
  most(measure: Measure): number | undefined;
  /** It refuses more than this. A limit only ever falls; one is always asked for. */
  learn(measure: Measure, most: number): void;
}

export function createLimits(): NodeLimits {
  const known = new Map<Measure, number>();
  return {
    most: (measure) => known.get(measure),
    learn(measure, most) {
      known.set(measure, Math.max(1, Math.min(most, known.get(measure) ?? most)));
    },
  };
}
