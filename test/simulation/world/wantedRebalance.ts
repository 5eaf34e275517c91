import type { SimulatedChain } from '../kernel/ports.ts';

/** A rebalance that an operator wants: it has an address of the bridge and an amount of its own. */
export interface WantedRebalance {
  readonly chain: SimulatedChain;
  readonly towards: SimulatedChain;
  readonly receiver: string;
  readonly amount: string;
  id: string | null;
  /** The bridge's transaction on the other chain; null until it is there. */
  hash: string | null;
  outcome: 'open' | 'arrived' | 'refused';
}
