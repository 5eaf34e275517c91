import {
  catchError,
  defer,
  EMPTY,
  from,
  merge,
  mergeMap,
  type Observable,
  of,
  race,
  repeat,
  Subject,
  share,
  take,
} from 'rxjs';
import type { Clock } from '../../commands/ports.ts';
import { epochMs, type Instant } from '../../domain/time.ts';
import { boundedTimes } from '../lib/cache.ts';
import type { WorkFailures } from '../postgres/failures.ts';
import type { WorkReport } from '../process/telemetry.ts';

/** Drains a to-do list. An entry is a hint: `act` reads the stream or the chain before it acts. */
export interface Worker<T> {
  readonly name: string;
  /** Maximum concurrent items. */
  readonly concurrency: number;
  /** Due and not parked, oldest first. */
  due(max: number, now: Instant): Promise<readonly T[]>;
  /** Key of the item that has one action at a time and is parked after failures: a payment, a delivery, a pass of a chain. */
  keyOf(item: T): string;
  /** Due time of an item that `due` omitted, as far as the worker itself knows. */
  nextDue?(now: Instant): Instant | null;
  /** Maximum concurrent items of one owner, such as an app: a slow one leaves room for others. */
  readonly share?: { max(item: T): number; of(item: T): string };
  /** The list's items are recorded as failures: a success deletes the record, whatever its age. */
  readonly noted?: true;
  act(item: T, signal: AbortSignal): Promise<void>;
}

export interface WorkerRun {
  /** Emits when the list may have grown. */
  readonly wake: Observable<unknown>;
  readonly clock: Clock;
  readonly failures: Pick<WorkFailures, 'failed' | 'succeeded'>;
  /** After an abort no new item begins; the observable completes when the started ones have ended. */
  readonly signal: AbortSignal;
  /** Maximum pause before the list is read again without a wake. */
  readonly idle_ms?: number;
}

/** Pause after a round with items or a wake; doubled after each empty round, up to `idle_ms`. */
const firstPause_ms = 500;
const idleDefault_ms = 10_000;
const itemsPerRoundMax = 200;
/**
 * Minimum pause after reading a list, as a multiple of its duration: under load many changes cost one read, which uses a fifth of the time.
 */
const restFactor = 4;
const restMost_ms = 100;
const rememberedMax = 10_000;

/**
 * Runs a worker until its signal aborts: a round after every wake, at the retry of a failed item, and at least every `idle_ms`. Skips an
 * item that is still being processed, so each key has one action at a time and a slow one delays no other; reads the list again when its
 * action has ended.
 */
export function runWorker<T>(worker: Worker<T>, run: WorkerRun): Observable<WorkReport> {
  const busy = new Set<string>();
  const shares = new Map<string, number>();
  /** Keys without a recorded failure: their next success needs no write. */
  const clean = new Set<string>();
  const { signal, clock, idle_ms = idleDefault_ms } = run;
  /** Retry times of failed items. */
  const retryAt = boundedTimes();
  const passedOver = new Set<string>();
  const again = new Subject<void>();
  const wake = merge(run.wake, again).pipe(share());
  let woken = false;
  let quiet_ms = 0;
  let restUntil_ms = 0;
  const waking = wake.subscribe(() => {
    woken = true;
  });
  signal.addEventListener('abort', () => waking.unsubscribe(), { once: true });

  const pause = () => {
    // A clock that was set back does not extend a pause.
    const rest_ms = Math.min(restUntil_ms - epochMs(clock.now()), restMost_ms);
    return (rest_ms > 0 ? from(clock.sleep(rest_ms, signal)) : of(undefined)).pipe(mergeMap(wakeUp));
  };

  const wakeUp = () => {
    if (signal.aborted) return EMPTY;
    if (woken) return of(undefined);
    return race(wake, from(clock.sleep(pause_ms(clock.now()), signal))).pipe(take(1));
  };

  /** Until the next item with a known due time; wakes announce the others. */
  function pause_ms(now: Instant): number {
    const now_ms = epochMs(now);
    const next = worker.nextDue?.(now);
    const due_ms = Math.min(retryAt.nextAfter(now_ms), next ? epochMs(next) : Number.POSITIVE_INFINITY);
    return Math.min(idle_ms, quiet_ms, Math.max(due_ms - now_ms, 1));
  }

  function found(items: readonly T[]): readonly T[] {
    quiet_ms =
      items.length > 0 || busy.size >= itemsPerRoundMax ? firstPause_ms : Math.max(firstPause_ms, quiet_ms * 2);
    return items;
  }

  const round = defer(() => {
    if (signal.aborted) return EMPTY;
    if (woken) quiet_ms = 0;
    woken = false;
    const room = itemsPerRoundMax - busy.size;
    return room > 0 ? from(list()) : of([]);
  }).pipe(
    mergeMap((items) => found(items).filter(begin)),
    catchError((error: unknown) => {
      quiet_ms = firstPause_ms;
      return of({ stalled: error });
    }),
  );

  return round.pipe(
    repeat({ delay: pause }),
    mergeMap((item) => from(isStall(item) ? stalled(item.stalled) : actOn(item)), worker.concurrency),
  );

  async function list(): Promise<readonly T[]> {
    const begun = clock.now();
    try {
      return await worker.due(itemsPerRoundMax, begun);
    } finally {
      const ended_ms = epochMs(clock.now());
      restUntil_ms = ended_ms + Math.min((ended_ms - epochMs(begun)) * restFactor, restMost_ms);
    }
  }

  /** @returns true if the item is to be processed: it counts as busy from here on */
  function begin(item: T): boolean {
    const { share } = worker;
    const taken = share ? (shares.get(share.of(item)) ?? 0) : 0;
    const key = worker.keyOf(item);
    if (busy.has(key)) passedOver.add(key);
    if (busy.has(key) || (share && taken >= share.max(item))) return false;
    busy.add(key);
    if (share) shares.set(share.of(item), taken + 1);
    return true;
  }

  function end(item: T): void {
    const { share } = worker;
    const key = worker.keyOf(item);
    busy.delete(key);
    if (share) {
      const left = (shares.get(share.of(item)) ?? 1) - 1;
      if (left > 0) shares.set(share.of(item), left);
      else shares.delete(share.of(item));
    }
    if (passedOver.delete(key)) again.next();
  }

  async function actOn(item: T): Promise<WorkReport> {
    const key = worker.keyOf(item);
    try {
      await worker.act(item, signal);
      if (worker.noted || !clean.has(key)) await run.failures.succeeded(worker.name, key);
      if (clean.size >= rememberedMax) clean.clear();
      clean.add(key);
      return { worker: worker.name, kind: 'done', key };
    } catch (error) {
      if (signal.aborted) return { worker: worker.name, kind: 'interrupted', key };
      clean.delete(key);
      return await run.failures.failed(worker.name, key, error, clock.now()).then((retry): WorkReport => {
        if (retry) retryAt.set(key, epochMs(retry));
        return { worker: worker.name, kind: 'failed', key, error };
      }, stalled);
    } finally {
      end(item);
    }
  }

  async function stalled(error: unknown): Promise<WorkReport> {
    return { worker: worker.name, kind: 'stalled', error };
  }
}

const isStall = (item: unknown): item is { stalled: unknown } =>
  typeof item === 'object' && item !== null && 'stalled' in item;
