import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Appended, type EventStore, Unavailable } from '../../commands/ports.ts';
import { createAppendCall } from './appendCall.ts';
import type { Append } from './appendRequest.ts';
import type { Connection } from './connection.ts';
import { definiteRefusal, isConnectionLoss, isNotLeader, mayBeWritten, reasonOf } from './failures.ts';

export interface AppendLimits {
  /** How long one attempt may stay unanswered before the identical events are sent again. */
  readonly attempt_ms: number;
  /** How long the outcome is sought in all. */
  readonly append_ms: number;
}

const backoff_ms = { first: 50, most: 1_000 };

/** How long a store may be away before an append is given up that is surely not in it: time enough to find another leader. */
const unsent_ms = 1_000;

type AppendFor = (away_ms: number) => EventStore['append'];

/**
 * Appends, sending until the outcome is known. Resending is safe: at an exact revision the store compares event ids, so
 * whichever copy comes first is written and the others are told its revision. When the time is up the outcome stays unknown:
 * the caller must read the stream before deciding again, which every decision after a failure does.
 * @returns for callers who wait so long for a store that is away, to learn what became of what they have sent
 */
export function createAppending(connection: Connection, limits: AppendLimits, read: EventStore['read']): AppendFor {
  const { reach } = connection;
  const send = createAppendCall(connection);

  async function attempt(append: Append): Promise<Appended> {
    const what = `appending to ${append.stream}`;
    const { revision, position } = await connection.answered(send(append), limits.attempt_ms, what);
    return { revision, position: position ?? (await positionOf(append.stream, revision)) };
  }

  /** An append found to have been written before is answered without a position when its event cannot be read any more. */
  async function positionOf(stream: string, revision: bigint): Promise<bigint> {
    const [event] = await read(stream, { from: revision, max: 1 });
    return event?.position ?? 0n;
  }

  return (away_ms) => async (stream, expected, events) => {
    const append = { stream, expected, events };
    let until_ms = performance.now() + limits.append_ms;
    let unsure = false;
    let lostAt_ms: number | null = null;
    for (let pause_ms = backoff_ms.first; ; pause_ms = Math.min(pause_ms * 2, backoff_ms.most)) {
      try {
        return await attempt(append);
      } catch (error) {
        const refusal = definiteRefusal(error, stream, expected);
        if (refusal !== undefined) throw refusal;
        unsure ||= mayBeWritten(error);
        if (isConnectionLoss(error)) {
          connection.moved();
          // Where the leader is, the client has just been told.
          if (!isNotLeader(error)) reach.lost();
          lostAt_ms ??= performance.now();
          until_ms = Math.min(until_ms, lostAt_ms + (unsure ? away_ms : unsent_ms));
        }
        const left_ms = until_ms - performance.now() - pause_ms;
        if (left_ms <= 0 || !(await reach.whenUp(left_ms))) throw unanswered(append, unsure, error);
        await sleep(pause_ms + randomInt(backoff_ms.first));
      }
    }
  };

  function unanswered({ stream, events }: Append, unsure: boolean, cause: unknown): Unavailable {
    const outcome = unsure
      ? `whether ${events.length} event(s) were appended to ${stream} is unknown; read the stream before deciding again`
      : `nothing was appended to ${stream}`;
    return new Unavailable(
      `no answer from the event store at ${connection.server} (${reasonOf(cause)}): ${outcome}`,
      1,
      {
        cause,
      },
    );
  }
}
