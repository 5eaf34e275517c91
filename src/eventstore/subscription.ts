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

/** Something the server said between events; it counts once the `before` events ahead of it have been taken out. */
interface Mark {
  readonly before: number;
  /** A checkpoint; null says "caught up". */
  readonly position: bigint | null;
}

/**
 * One subscription as batches. The client reports checkpoints and `caughtUp` when the message arrives, while events
 * before it still wait in the buffer; hence the marks: a batch's position never runs ahead of its events.
 */
async function* follow(client: EventStoreDBClient, options: AllOptions, window: number): AsyncGenerator<Batch> {
  const { signal } = options;
  const marks: Mark[] = [];
  let position = options.after ?? 0n;
  let taken = 0;
  let live = false;
  let confirmed = false;
  let failure: unknown;
  let wake = (): void => {};

  const mark = (reached: bigint | null): void => {
    marks.push({ before: taken + subscription.readableLength, position: reached });
    wake();
  };
  const subscription = subscribe(client, options, window, mark);
  subscription
    .on('confirmation', () => {
      confirmed = true;
    })
    .on('caughtUp', () => mark(null))
    .on('readable', () => wake())
    .on('error', (error: unknown) => {
      failure ??= error;
      wake();
    })
    .on('end', () => {
      failure ??= 'the server ended it';
      wake();
    });
  const onAbort = (): void => wake();
  signal.addEventListener('abort', onAbort);

  const news = (): Promise<void> =>
    new Promise((resolve) => {
      const quiet = live ? undefined : setTimeout(() => (confirmed ? mark(null) : wake()), quiet_ms);
      wake = () => {
        clearTimeout(quiet);
        resolve();
      };
    });

  try {
    while (!signal.aborted) {
      const from: bigint = position;
      const wasLive: boolean = live;
      const events = takeBuffered(subscription);
      taken += events.length;
      position = events.at(-1)?.position ?? position;
      while (marks[0] && marks[0].before <= taken) {
        const reached = marks.shift()?.position ?? null;
        if (reached === null) live = true;
        else if (reached > position) position = reached;
      }
      if (position > from || live !== wasLive) {
        yield { events, position, live: live && subscription.readableLength === 0 };
      } else if (failure !== undefined) {
        throw new Unavailable(`the event store's subscription broke off: ${reasonOf(failure)}; subscribe again`);
      } else {
        await news();
        // What came in the same packets belongs into the same batch.
        await nextTurn();
      }
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    await subscription.unsubscribe().catch(() => {});
  }
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

/** What has arrived already, no more: large batches while catching up, single events when live. */
function takeBuffered(subscription: AllStreamSubscription): StoredEvent[] {
  const events: StoredEvent[] = [];
  while (events.length < maxBatch) {
    const resolved: AllStreamResolvedEvent | null = subscription.read();
    if (resolved === null) break;
    events.push(storedEvent(resolved));
  }
  return events;
}
