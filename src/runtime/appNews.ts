/** Tells who waits for an app's events that there are new ones. One connection listens for all of them. */

export interface AppNews {
  /**
   * Something happened to payments of the app: yields the newest ordinal of its feed, or null where only a look can tell. What happens
   * while the consumer is busy is one news. Nothing is missed from this call on, so: call, then read the feed, then wait for the next.
   *
   * Ends when the signal aborts (the listener has gone away) and when the service stops.
   * @throws ListenersFull
   */
  changes(appId: string, signal: AbortSignal): AsyncIterable<string | null>;
}

/** Too many wait already, of the app or of this instance. */
export class ListenersFull extends Error {
  override readonly name = 'ListenersFull';
  readonly of: 'app' | 'instance';
  constructor(of: 'app' | 'instance') {
    super(of === 'app' ? 'too many wait for events of this app' : 'too many wait for events here');
    this.of = of;
  }
}
