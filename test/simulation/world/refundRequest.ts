import type { SimulatedChain } from '../kernel/ports.ts';

/** One order of money back: a key and a receiver of its own. */
export interface RefundRequest {
  readonly paymentId: string;
  readonly key: string;
  readonly source: SimulatedChain;
  readonly receiver: string;
  outcome: 'open' | 'ordered' | 'refused';
}

/** A refund of unmatched money: it has a receiver of its own. */
export interface StrayRefund {
  readonly chain: SimulatedChain;
  readonly transferId: string;
  readonly receiver: string;
}
