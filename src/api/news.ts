/** The feed as the edge uses it: what happened to an app's payments, and word of what happens next. */
import type { AppEvent } from '../../queries/feed.ts';

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
