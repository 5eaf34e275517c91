/** Feed for the API: an app's payment events, and notification of new ones. */
import type { AppEvent } from '../../queries/feed.ts';
import { networksOf } from './rateLimits.ts';

export interface Feed extends AppNews {
  /** The next events after an ordinal, in order. @throws Unavailable */
  events(appId: string, page: { readonly after: string; readonly limit: number }): Promise<readonly AppEvent[]>;
  /** Ordinal of the app's newest event; `0` while it has none. @throws Unavailable */
  lastOrdinal(appId: string): Promise<string>;
}

export interface AppNews {
  /**
   * Yields the newest ordinal of the app's feed after each change, or null if only a query can tell. Changes while the consumer is busy are
   * merged into one. Nothing is missed after this call, so: call, then read the feed, then wait for the next.
   *
   * @param signal ends it and releases its slot; so does the end of the service
   * @throws ListenersFull
   */
  changes(appId: string, signal: AbortSignal): AsyncIterableIterator<string | null>;
}

/** Maximum concurrent listeners. */
export interface ListenerLimits {
  readonly perApp: number;
  readonly perInstance: number;
}

export const defaultListenerLimits: ListenerLimits = { perApp: 100, perInstance: 2_000 };

/** Too many listeners. The message names the limit. */
export class ListenersFull extends Error {
  override readonly name = 'ListenersFull';
  readonly of: 'one' | 'instance';
  /** @param of scope of the limit: one app or payment, or the whole instance */
  constructor(of: ListenersFull['of'], message: string) {
    super(message);
    this.of = of;
  }
}

/** Change notifications of single payments, for payment pages. */

export interface PaymentNews {
  /**
   * Notifies of a change of the payment, or of its chain's new blocks if the page waits for them. Changes while the consumer is busy are
   * merged into one. Nothing is missed after this call, so: call, then read the payment, then wait for the next.
   *
   * @param signal ends it and releases its slot; so does the end of the service
   * @throws ListenersFull
   */
  listen(page: OpenPage, signal: AbortSignal): PaymentListener;
}

/** An open payment page. */
export interface OpenPage {
  readonly paymentId: string;
  readonly appId: string;
  /** Visitor's network: an IPv4 address, or the /64 of an IPv6 address. */
  readonly address: string;
}

/** Maximum concurrently waiting pages. */
export interface PageListenerLimits {
  /** Per payment: one payer may have several screens. */
  readonly perPayment: number;
  /** Per visitor's network, over all payments; less if few slots are free. */
  readonly perAddress: number;
  readonly perInstance: number;
}

export const defaultPageListenerLimits: PageListenerLimits = { perPayment: 50, perAddress: 200, perInstance: 5_000 };

export interface PaymentListener extends AsyncIterable<void> {
  /** Also notifies of this chain's new blocks from now on; null for none. */
  awaitHead(chainId: number | null): void;
}

// Divides the slots of one process between the networks of its callers, so a few networks cannot hold all of them.

export interface PlaceShares {
  /** Reserves a slot until the returned function is called. Null if a network of the caller holds its share. */
  take(client: string): (() => void) | null;
}

/** Maximum share of one network: a quarter of the free slots. */
const freeParts = 4;
/** Slots that a network may always hold. */
const least = 10;

/** @param perCallerMax maximum of one IPv4 address or /64, however many slots are free */
export function createPlaceShares({
  placesMax,
  perCallerMax,
}: {
  readonly placesMax: number;
  readonly perCallerMax: number;
}): PlaceShares {
  const held = new Map<string, number>();
  let taken = 0;

  const change = (network: string, by: 1 | -1): void => {
    const count = (held.get(network) ?? 0) + by;
    if (count > 0) held.set(network, count);
    else held.delete(network);
  };

  return {
    take(client) {
      const networks = networksOf(client);
      const fair = Math.floor((placesMax - taken) / freeParts);
      const isFull = networks.some(
        ({ network, callers }) =>
          (held.get(network) ?? 0) >= Math.min(perCallerMax * callers, Math.max(least * callers, fair)),
      );
      if (isFull) return null;
      taken += 1;
      for (const { network } of networks) change(network, 1);
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        taken -= 1;
        for (const { network } of networks) change(network, -1);
      };
    },
  };
}
