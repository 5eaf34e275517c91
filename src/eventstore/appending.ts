import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Appended, EventStore, SealedEvent } from '../../commands/ports.ts';
import { Unavailable } from '../../commands/ports.ts';
import { createAppendCall } from './appendCall.ts';
import { within } from './bounds.ts';
import type { Connection } from './connection.ts';
import { definiteRefusal, isConnectionLoss, reasonOf } from './failures.ts';

export interface AppendLimits {
  /** How long one attempt may stay unanswered before the identical events are sent again. */
  readonly attempt_ms: number;
  /** How long the outcome is sought in all. */
  readonly append_ms: number;
}

const backoff_ms = { first: 50, most: 1_000 };

/**
 * Appends, sending until the outcome is known. Resending is safe: at an exact revision the store compares event ids, so
 * whichever copy comes first is written and the others are told its revision. When the time is up the outcome stays unknown:
 * the caller must read the stream before deciding again, which every decision after a failure does.
 */
export function createAppending(
  connection: Connection,
  limits: AppendLimits,
  read: EventStore['read'],
): EventStore['append'] {
  const { client, reach, server } = connection;
  const send = createAppendCall(client);

  async function attempt(
    stream: string,
    expected: bigint | 'no_stream',
    events: readonly SealedEvent[],
  ): Promise<Appended> {
    const answer = send({ stream, expected, events });
    const { revision, position } = await within(answer, limits.attempt_ms, `appending to ${stream}`);
    return { revision, position: position ?? (await positionOf(stream, revision)) };
  }

  /** An append found to have been written before is answered without a position when its event cannot be read any more. */
  async function positionOf(stream: string, revision: bigint): Promise<bigint> {
    const [event] = await read(stream, { from: revision, max: 1 });
    return event?.position ?? 0n;
  }

  return async (stream, expected, events) => {
    const until_ms = performance.now() + limits.append_ms;
    for (let pause_ms = backoff_ms.first; ; pause_ms = Math.min(pause_ms * 2, backoff_ms.most)) {
      try {
        return await attempt(stream, expected, events);
      } catch (error) {
        const refusal = definiteRefusal(error, stream, expected);
        if (refusal !== undefined) throw refusal;
        if (isConnectionLoss(error)) reach.lost();
        const left_ms = until_ms - performance.now() - pause_ms;
        if (left_ms <= 0 || !(await reach.whenUp(left_ms))) {
          throw new Unavailable(
            `no answer from the event store at ${server} (${reasonOf(error)}): whether ${events.length} event(s) were ` +
              `appended to ${stream} is unknown; read the stream before deciding again`,
            1,
            { cause: error },
          );
        }
        await sleep(pause_ms + randomInt(backoff_ms.first));
      }
    }
  };
}
