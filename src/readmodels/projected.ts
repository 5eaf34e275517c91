import { exhaustMap, filter, from, map, merge, type Observable, Subject, take, takeUntil, timer } from 'rxjs';
import { streamPrefixes } from '../../commands/codec.ts';
import { type EventStore, Unavailable } from '../../commands/ports.ts';
import { projectedChannel } from '../../projections/commit.ts';
import type { Sql } from '../../projections/sql.ts';
import type { Notification } from '../postgres/listen.ts';

export interface WaitOptions {
  readonly timeout_ms?: number;
  readonly signal?: AbortSignal;
}

/**
 * Resolves once the read models hold everything up to the position, in whichever process they are filled.
 * @throws Unavailable when that takes too long
 */
export type WaitUntilProjected = (position: bigint, options?: WaitOptions) => Promise<void>;

/**
 * Resolves once the read models hold every event of ours that is in the log now. Events of other applications are not waited for: their
 * positions are stored now and then.
 * @returns position of the last of these events; that of the read models when there was nothing to wait for
 * @throws Unavailable when that takes too long
 */
export type WaitUntilCaughtUp = (options?: WaitOptions) => Promise<bigint>;

const timeoutDefault_ms = 5_000;
/** How often the checkpoint is read while no notification comes. */
const poll_ms = 100;

/** @param checkpoint of the read models that are waited for */
export function caughtUpWaiter(
  store: Pick<EventStore, 'lastEvent'>,
  checkpoint: () => Promise<bigint>,
  projected: WaitUntilProjected,
): WaitUntilCaughtUp {
  return async (options) => {
    const position = await checkpoint();
    const last = await store.lastEvent(streamPrefixes, position);
    if (last === null) return position;
    await projected(last.position, options);
    return last.position;
  };
}

/** How far a projection set has come; 0 before the first event. */
export async function checkpointOf(sql: Sql, set = 'work'): Promise<bigint> {
  const [row] = await sql.query<{ position: bigint | null }>(
    `SELECT position FROM ops.projections WHERE set_name = $1 AND status = 'active'`,
    [set],
  );
  return row?.position ?? 0n;
}

/** @param notifications of the `projected` channel at least */
export function projectedWaiter(sql: Sql, notifications: Observable<Notification>, set = 'work'): WaitUntilProjected {
  return async (position, { timeout_ms = timeoutDefault_ms, signal } = {}) => {
    // The checkpoint is read each time: a Postgres that crashed may have come back without its last rows.
    const checkpoint = () => checkpointOf(sql, set);
    if (position <= (await checkpoint())) return;
    const stop = new Subject<void>();
    const onAbort = () => stop.next();
    signal?.addEventListener('abort', onAbort, { once: true });
    const told = notifications.pipe(
      filter(({ channel, payload }) => channel === projectedChannel && payload.startsWith(`${set} `)),
      map(({ payload }) => BigInt(payload.slice(set.length + 1))),
    );
    const read = timer(0, poll_ms).pipe(exhaustMap(() => from(checkpoint())));
    try {
      const arrived = await new Promise<boolean>((resolve, reject) => {
        merge(told, read)
          .pipe(
            filter((at) => at >= position),
            take(1),
            takeUntil(merge(timer(timeout_ms), stop)),
          )
          .subscribe({ next: () => resolve(true), error: reject, complete: () => resolve(false) });
        if (signal?.aborted) stop.next();
      });
      if (!arrived)
        throw new Unavailable(`read models "${set}" have not come to ${position} in ${timeout_ms} ms: try again`);
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  };
}
