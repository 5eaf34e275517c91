import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { BACKWARDS, END, EventStoreDBClient, FORWARDS, jsonEvent, NO_STREAM, START } from '@eventstore/db-client';
import type { Appended, EventStore, ReadOptions, SealedEvent } from '../../commands/ports.ts';
import { Unavailable } from '../../commands/ports.ts';
import { assert } from '../../domain/decider.ts';
import { collect, within } from './bounds.ts';
import { definiteRefusal, isConnectionLoss, isMissingStream, reasonOf } from './failures.ts';
import { createLane, type Lane, type LaneLimits } from './lanes.ts';
import { createReachability } from './reachability.ts';
import { storedEvent } from './records.ts';
import { followAll } from './subscription.ts';

export interface EventStoreOptions {
  /** `esdb://host:port?tls=false`, or a cluster's `esdb+discover://…` with credentials inside. */
  readonly url: string;
  /** How long one attempt to append may stay unanswered before the identical events are sent again. */
  readonly attempt_ms?: number;
  /** How long an append's outcome is sought in all. */
  readonly append_ms?: number;
  readonly read_ms?: number;
  /** Callers on behalf of a request. */
  readonly requests?: LaneLimits;
  /** Callers that carry on payments: their lane is never full of requests. */
  readonly workers?: LaneLimits;
}

export interface OpenEventStore extends EventStore {
  /** The same store on the lane kept for workers. */
  readonly workers: EventStore;
  close(): Promise<void>;
}

/** An unbounded read of a longer stream is a mistake: it must be read in pages. */
const readLimit = 10_000;
const backoff_ms = { first: 50, most: 1_000 };

/** About 100 appends in flight in all: more only add waiting. */
const defaults = {
  attempt_ms: 5_000,
  append_ms: 20_000,
  read_ms: 10_000,
  requests: { inFlight: 84, queued: 2_000, wait_ms: 2_000 },
  workers: { inFlight: 16, queued: 10_000, wait_ms: 20_000 },
};

/**
 * The event store behind `@eventstore/db-client` 6.2.1, with what that client leaves to its caller: a time limit on
 * appends, resending after an unknown outcome, bounded concurrency, typed errors. Nothing is connected before first use.
 *
 * Open one per process: when a connection breaks, the client fails the pending appends of all its instances. (They would
 * be sent again; it only costs time.)
 */
export function openEventStore(options: EventStoreOptions): OpenEventStore {
  const { url, attempt_ms, append_ms, read_ms, requests, workers } = { ...defaults, ...options };
  const client = EventStoreDBClient.connectionString(url);
  const lastOfAll = () =>
    collect(client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 }), read_ms, 'reading the log');
  /** Any answer will do, also a refusal. */
  const probe = () =>
    lastOfAll().catch((error) => {
      if (isConnectionLoss(error) || error instanceof Unavailable) throw error;
    });
  const reach = createReachability(probe);

  function mustBeUp(): void {
    if (!reach.up) throw new Unavailable(`the event store at ${url} cannot be reached; nothing was sent`);
  }

  /**
   * Sends until the outcome is known. Resending is safe: at an exact revision the store compares event ids, so whichever
   * copy comes first is written and the others are told its revision. When the time is up the outcome stays unknown; the
   * caller must then read the stream before deciding again, which every decision after a failure does.
   */
  async function appendUntilKnown(
    stream: string,
    expected: bigint | 'no_stream',
    events: readonly SealedEvent[],
  ): Promise<Appended> {
    const messages = events.map(({ id, type, data, metadata }) => jsonEvent({ id, type, data: { ...data }, metadata }));
    const until_ms = performance.now() + append_ms;
    for (let pause_ms = backoff_ms.first; ; pause_ms = Math.min(pause_ms * 2, backoff_ms.most)) {
      try {
        const sent = client.appendToStream(stream, messages, {
          expectedRevision: expected === 'no_stream' ? NO_STREAM : expected,
        });
        const { nextExpectedRevision: revision, position } = await within(sent, attempt_ms, `appending to ${stream}`);
        return { revision, position: position?.commit ?? (await positionOf(stream, revision)) };
      } catch (error) {
        const refusal = definiteRefusal(error, stream, expected);
        if (refusal !== undefined) throw refusal;
        if (isConnectionLoss(error)) reach.lost();
        const left_ms = until_ms - performance.now() - pause_ms;
        if (left_ms <= 0 || !(await reach.whenUp(left_ms))) {
          throw new Unavailable(
            `no answer from the event store at ${url} within ${append_ms} ms (${reasonOf(error)}): whether ${events.length} ` +
              `event(s) were appended to ${stream} is unknown; read the stream before deciding again`,
            1,
            { cause: error },
          );
        }
        await sleep(pause_ms + randomInt(backoff_ms.first));
      }
    }
  }

  /** An append found to have been written before is answered without a position when its event cannot be read any more. */
  async function positionOf(stream: string, revision: bigint): Promise<bigint> {
    const [event] = await readStream(stream, { from: revision, max: 1 });
    return event?.position ?? 0n;
  }

  async function readStream(stream: string, { from, backwards = false, max }: ReadOptions = {}) {
    const resolved = await reading(() =>
      collect(
        client.readStream(stream, {
          direction: backwards ? BACKWARDS : FORWARDS,
          fromRevision: from ?? (backwards ? END : START),
          maxCount: max ?? readLimit + 1,
        }),
        read_ms,
        `reading ${stream}`,
      ),
    );
    assert(
      max !== undefined || resolved.length <= readLimit,
      `stream ${stream} is longer than ${readLimit} events: read it in pages`,
    );
    return resolved.map(storedEvent);
  }

  /** The first call after a broken connection may fail once more for nothing: hence one more try. */
  async function reading<T>(read: () => Promise<readonly T[]>): Promise<readonly T[]> {
    for (let retried = false; ; retried = true) {
      mustBeUp();
      try {
        return await read();
      } catch (error) {
        if (isMissingStream(error)) return [];
        if (error instanceof Unavailable || !isConnectionLoss(error)) throw error;
        if (retried) {
          reach.lost();
          throw new Unavailable(`the event store at ${url} cannot be reached: ${reasonOf(error)}`, 1, { cause: error });
        }
      }
    }
  }

  const on = (lane: Lane): EventStore => ({
    async append(stream, expected, events) {
      assert(events.length > 0, `an append to ${stream} holds at least one event`);
      mustBeUp();
      return lane(() => appendUntilKnown(stream, expected, events));
    },
    read: readStream,
    all: (wanted) => followAll(client, wanted),
    async tail() {
      const [last] = await reading(lastOfAll);
      return last?.event?.position?.commit ?? 0n;
    },
  });

  const workerLane = createLane('worker', workers);
  return {
    ...on(createLane('request', requests)),
    workers: on(workerLane),
    async close() {
      reach.close();
      await client.dispose();
    },
  };
}
