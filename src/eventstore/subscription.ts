import type { ReadableOptions } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AllStreamResolvedEvent, AllStreamSubscription, EventStoreDBClient } from '@eventstore/db-client';
import { START, streamNameFilter } from '@eventstore/db-client';
import type { Batch } from '../../commands/ports.ts';
import { Unavailable } from '../../commands/ports.ts';
import type { StoredEvent } from '../../domain/event.ts';
import { reasonOf } from './failures.ts';
import { storedEvent } from './records.ts';

const maxBatch = 500;

/** The client passes these on to a Transform, whose reading side they bound; its types know only the plain option. */
const buffering: ReadableOptions = { highWaterMark: maxBatch };

/** How many events the server looks at between two checkpoints: many while catching up, one when live, so that the
 *  position of an idle subscriber is never behind the log's end. */
const catchUpWindow = 512;
const liveWindow = 1;

/** Servers before 24.2 never say that a subscriber has caught up: so long a silence says it. */
const quiet_ms = 1_000;

/** What older servers send in place of a position that they do not know (uint64 max). */
const noPosition = 0xffff_ffff_ffff_ffffn;

export interface AllOptions {
  readonly after: bigint | null;
  readonly prefixes: readonly string[];
  readonly signal: AbortSignal;
}

/** The position to continue after belongs to another store, or this store was set back to an earlier state. */
export class ForeignPosition extends Error {
  override readonly name = 'ForeignPosition';
  constructor(after: bigint | null, reason: string) {
    super(`the event store does not know position ${after} (${reason}): rebuild what was recorded from another store`);
  }
}

/**
 * Follows $all. A first subscription catches up with a wide window; when live, a second one takes over from the same
 * position with the narrow one.
 */
export async function* followAll(client: EventStoreDBClient, options: AllOptions): AsyncGenerator<Batch> {
  let { after } = options;
  for await (const batch of follow(client, options, catchUpWindow)) {
    if (batch.position > 0n) after = batch.position;
    yield { ...batch, live: false };
    if (batch.live) break;
  }
  if (!options.signal.aborted) yield* follow(client, { ...options, after }, liveWindow);
}

/** One subscription as batches. */
async function* follow(client: EventStoreDBClient, options: AllOptions, window: number): AsyncGenerator<Batch> {
  const { signal } = options;
  const inbox = openInbox(client, options, window);
  signal.addEventListener('abort', inbox.wake);
  let position = options.after ?? 0n;
  let live = false;
  try {
    while (!signal.aborted) {
      const { events, reached, caughtUp } = inbox.take();
      if (reached > position || (caughtUp && !live)) {
        if (reached > position) position = reached;
        live ||= caughtUp;
        yield { events, position, live: live && inbox.isEmpty };
      } else if (inbox.failure !== undefined) throw brokenOff(inbox.failure, options.after);
      else {
        await inbox.news(live);
        // What came in the same packets belongs into the same batch.
        await nextTurn();
      }
    }
  } finally {
    signal.removeEventListener('abort', inbox.wake);
    await inbox.close();
  }
}

/** Something the server said between events; it counts once the `before` events ahead of it have been taken out. */
interface Mark {
  readonly before: number;
  /** A checkpoint; null says "caught up". */
  readonly position: bigint | null;
}

/**
 * What has arrived from one subscription. The client reports checkpoints and `caughtUp` when the message arrives, while
 * events before it still wait in the buffer; hence the marks: a position never runs ahead of its events.
 */
function openInbox(client: EventStoreDBClient, options: AllOptions, window: number) {
  const marks: Mark[] = [];
  let taken = 0;
  let confirmed = false;
  let failure: unknown;
  let wake = (): void => {};

  const mark = (position: bigint | null): void => {
    marks.push({ before: taken + subscription.readableLength, position });
    wake();
  };
  const fail = (error: unknown): void => {
    failure ??= error;
    wake();
  };
  const subscription = subscribe(client, options, window, mark);
  subscription
    .on('confirmation', () => {
      confirmed = true;
    })
    .on('caughtUp', () => mark(null))
    .on('readable', () => wake())
    .on('error', fail)
    .on('end', () => fail('the server ended it'));

  return {
    /** What has arrived already, no more: large batches while catching up, single events when live. */
    take(): { events: readonly StoredEvent[]; reached: bigint; caughtUp: boolean } {
      const events = takeBuffered(subscription);
      taken += events.length;
      let reached = events.at(-1)?.position ?? 0n;
      let caughtUp = false;
      for (let next = marks[0]; next && next.before <= taken; next = marks[0]) {
        marks.shift();
        if (next.position === null) caughtUp = true;
        else if (next.position > reached) reached = next.position;
      }
      return { events, reached, caughtUp };
    },
    /** Resolves when something has arrived, or when a subscription that is not live yet has been silent for long. */
    news(live: boolean): Promise<void> {
      return new Promise((resolve) => {
        const quiet = live ? undefined : setTimeout(() => (confirmed ? mark(null) : wake()), quiet_ms);
        wake = () => {
          clearTimeout(quiet);
          resolve();
        };
      });
    },
    wake: () => wake(),
    get isEmpty() {
      return subscription.readableLength === 0;
    },
    get failure() {
      return failure;
    },
    close: () => subscription.unsubscribe().catch(() => {}),
  };
}

/** The server answers so when it was asked to begin at a position that is none of its log. */
const invalidArgument = 3;

function brokenOff(failure: unknown, after: bigint | null): Error {
  const reason = reasonOf(failure);
  const code = typeof failure === 'object' && failure !== null && 'code' in failure ? failure.code : undefined;
  return code === invalidArgument
    ? new ForeignPosition(after, reason)
    : new Unavailable(`the event store's subscription broke off: ${reason}; subscribe again`);
}

function subscribe(
  client: EventStoreDBClient,
  { after, prefixes }: AllOptions,
  window: number,
  checkpoint: (position: bigint) => void,
): AllStreamSubscription {
  const filter = streamNameFilter({
    prefixes: [...prefixes],
    maxSearchWindow: window,
    checkpointInterval: 1,
    checkpointReached: (_, { commit }) => {
      if (commit !== noPosition) checkpoint(commit);
    },
  });
  const fromPosition = after === null ? START : { commit: after, prepare: after };
  return client.subscribeToAll({ fromPosition, filter }, buffering);
}

function takeBuffered(subscription: AllStreamSubscription): StoredEvent[] {
  const events: StoredEvent[] = [];
  while (events.length < maxBatch) {
    const resolved: AllStreamResolvedEvent | null = subscription.read();
    if (resolved === null) break;
    events.push(storedEvent(resolved));
  }
  return events;
}
