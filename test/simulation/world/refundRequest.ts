import type { SimulatedChain } from '../kernel/ports.ts';

/** One refund order: a separate key and receiver. */
export interface RefundRequest {
  readonly paymentId: string;
  readonly key: string;
  readonly receiver: string;
  outcome: 'open' | 'ordered' | 'refused';
}

/** A refund of unmatched money to a separate receiver. */
export interface StrayRefund {
  readonly chain: SimulatedChain;
  readonly transferId: string;
  readonly receiver: string;
}
