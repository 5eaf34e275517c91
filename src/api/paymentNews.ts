/** News of single payments, for the pages of those who pay them. */

export interface PaymentNews {
  /**
   * Something happened to the payment, or its chain has moved on while somebody waits for that. What happens while the consumer is busy is
   * one news. Nothing is missed from this call on, so: call, then read the payment, then wait for the next.
   *
   * @param signal ends it and gives its place back; so does the end of the service
   * @throws ListenersFull
   */
  listen(page: OpenPage, signal: AbortSignal): PaymentListener;
}

/** A page that somebody looks at. */
export interface OpenPage {
  readonly paymentId: string;
  readonly appId: string;
  /** Of the visitor: an IPv4 address, or the /64 of an IPv6 address. */
  readonly address: string;
}

/** How many open pages may wait for news at a time. */
export interface PageListenerLimits {
  /** It has one payer, who may have several screens. */
  readonly perPayment: number;
  /** Of one visitor's address, whichever payments they are of; less where few places are free. */
  readonly perAddress: number;
  readonly perInstance: number;
}

export const defaultPageListenerLimits: PageListenerLimits = { perPayment: 50, perAddress: 200, perInstance: 5_000 };

export interface PaymentListener extends AsyncIterable<void> {
  /** From now on news of this chain's head as well; null for none. */
  awaitHead(chainId: number | null): void;
}
