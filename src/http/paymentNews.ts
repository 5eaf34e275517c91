/** News of single payments, for the pages of those who pay them. */

export interface PaymentNews {
  /**
   * Something happened to the payment, or its chain has moved on while somebody waits for that. What happens while the consumer is busy is
   * one news. Nothing is missed from this call on, so: call, then read the payment, then wait for the next.
   *
   * @param signal ends it and gives its place back; so does the end of the service
   * @throws ListenersFull
   */
  listen(payment: { readonly paymentId: string; readonly appId: string }, signal: AbortSignal): PaymentListener;
}

/** How many open pages may wait for news at a time. */
export interface PageListenerLimits {
  /** It has one payer, who may have several screens. */
  readonly perPayment: number;
  readonly perInstance: number;
}

export const defaultPageListenerLimits: PageListenerLimits = { perPayment: 50, perInstance: 5_000 };

export interface PaymentListener extends AsyncIterable<void> {
  /** From now on news of this chain's head as well; null for none. */
  awaitHead(chainId: number | null): void;
}
