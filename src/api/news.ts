/** The feed as the edge uses it: what happened to an app's payments, and word of what happens next. */
import type { AppEvent } from '../../queries/feed.ts';
import { networksOf } from './rateLimits.ts';

export interface Feed extends AppNews {
  /** The next events after an ordinal, in order. @throws Unavailable */
  events(appId: string, page: { readonly after: string; readonly limit: number }): Promise<readonly AppEvent[]>;
  /** Of the app's newest event; `0` while it has none. @throws Unavailable */
  lastOrdinal(appId: string): Promise<string>;
}

export interface AppNews {
  /**
   * Something happened to payments of the app: yields the newest ordinal of its feed, or null where only a look can tell. What happens
   * while the consumer is busy is one news. Nothing is missed from this call on, so: call, then read the feed, then wait for the next.
   *
   * @param signal ends it and gives its place back; so does the end of the service
   * @throws ListenersFull
   */
  changes(appId: string, signal: AbortSignal): AsyncIterableIterator<string | null>;
}

/** How many may wait for news at a time. */
export interface ListenerLimits {
  readonly perApp: number;
  readonly perInstance: number;
}

export const defaultListenerLimits: ListenerLimits = { perApp: 100, perInstance: 2_000 };

/** Too many wait already. Its message says what for. */
export class ListenersFull extends Error {
  override readonly name = 'ListenersFull';
  readonly of: 'one' | 'instance';
  /** @param of whether one app or payment has too many, or the whole instance */
  constructor(of: ListenersFull['of'], message: string) {
    super(message);
    this.of = of;
  }
}

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

// Divides the places of one process between the networks of its callers, so that a few networks cannot hold all of them.

export interface PlaceShares {
  /** Takes a place until the returned function is called. Null if a network of the caller holds its share. */
  take(client: string): (() => void) | null;
}

/** One network may hold as much as a quarter of the places that are free. */
const freeParts = 4;
/** Places that a network may hold however few are free. */
const least = 10;

/** @param perCallerMax of one IPv4 address or /64, however many places are free */
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
