/** The feed as an async iterator that continues at its caller's saved cursor. */
import { PaymentsError } from './errors.ts';
import { request, type Transport } from './request.ts';
import type { EventPage, FeedEvent } from './types.ts';

export interface EventsOptions {
  /** The cursor that was saved; null before the first. `latest` begins with what happens from now on. */
  readonly load: () => Promise<string | null> | string | null;
  /** Stores the cursor durably: called once an event was handled, that is when the next one is requested. */
  readonly save: (cursor: string) => Promise<void> | void;
  /**
   * Returns true if an event was handled before, by its `eventId`. A program killed after its work and before `save` receives the event
   * again: with this it is skipped.
   */
  readonly isHandled?: (eventId: string) => Promise<boolean> | boolean;
  /** Ends the iteration, which throws its reason. */
  readonly signal?: AbortSignal;
  /** Seconds that the service waits for an event, 0 to 30; with 0 the iteration ends at the feed's end. */
  readonly wait_s?: number;
}

export interface EventPageOptions {
  /** `0` is the beginning, `latest` what happens from now on. */
  readonly after?: string;
  /** 1 to 100. */
  readonly limit?: number;
  /** 0 to 30. */
  readonly wait_s?: number;
  readonly signal?: AbortSignal;
}

/** One page, for who saves the cursor and does the work in one transaction. */
export const eventPage = (
  transport: Transport,
  { after = '0', limit, wait_s = 0, signal }: EventPageOptions = {},
): Promise<EventPage> =>
  request(transport, {
    path: '/payment-api/events',
    query: { after, limit, wait: wait_s },
    wait_ms: 1_000 * wait_s,
    signal,
  });

/** Every event in order. Leaving the loop, or throwing in it, leaves the event in hand for the next time. */
export async function* events(transport: Transport, options: EventsOptions): AsyncGenerator<FeedEvent, void, void> {
  const { load, save, isHandled = () => false, signal, wait_s = 30 } = options;
  let after = (await load()) ?? '0';
  for (;;) {
    const page = await eventPage(transport, { after, wait_s, ...(signal ? { signal } : {}) });
    for (const event of page.data) {
      requireNext(event, after);
      if (!(await isHandled(event.eventId))) yield event;
      after = event.ordinal;
      await save(after);
    }
    // The end of the feed has its own number, which `latest` requested.
    if (page.data.length === 0 && page.nextCursor !== after) {
      after = page.nextCursor;
      await save(after);
    }
    if (wait_s === 0 && !page.hasMore) return;
  }
}

/** Ordinals have no gaps: an earlier event must not be handled again, and none be skipped. */
function requireNext({ ordinal }: FeedEvent, after: string): void {
  if (after === 'latest' || BigInt(ordinal) === BigInt(after) + 1n) return;
  throw new PaymentsError(
    'unreadableAnswer',
    `event ${ordinal} came after ${after}: is this the feed of the same app?`,
  );
}
