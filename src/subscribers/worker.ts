import { catchError, defer, EMPTY, from, mergeMap, type Observable, of, race, repeat, take } from 'rxjs';
import type { Clock } from '../../commands/ports.ts';
import type { Instant } from '../../domain/time.ts';
import type { WorkFailures } from '../postgres/failures.ts';

/** Drains a to-do list. A to-do is a hint: `act` looks at the truth (stream, chain) before it does anything. */
export interface Worker<T> {
  readonly name: string;
  /** Items worked on side by side. */
  readonly concurrency: number;
  /** Due and not parked, oldest first. */
  due(max: number, now: Instant): Promise<readonly T[]>;
  /** Whose order must be kept and who is parked on failure: a payment, a delivery, a chain. */
  keyOf(item: T): string;
  /** Who may take up at most so many places at a time, so that a slow one leaves some to the others: an app. */
  readonly share?: { readonly max: number; of(item: T): string };
  act(item: T, signal: AbortSignal): Promise<void>;
}

export type WorkReport =
  | { readonly worker: string; readonly kind: 'done'; readonly key: string }
  /** Stopped in the middle, not failed: whoever runs next takes it up again. */
  | { readonly worker: string; readonly kind: 'interrupted'; readonly key: string }
  | { readonly worker: string; readonly kind: 'failed'; readonly key: string; readonly error: unknown }
  /** The list itself could not be read, or a failure not be noted: tried again after a pause. */
  | { readonly worker: string; readonly kind: 'stalled'; readonly error: unknown };

export interface WorkerRun {
  /** Emits when the list may have grown. */
  readonly wake: Observable<unknown>;
  readonly clock: Clock;
  readonly failures: Pick<WorkFailures, 'failed' | 'succeeded'>;
  /** Once aborted no new item is begun; the observable completes when those begun have ended. */
  readonly signal: AbortSignal;
  /** How often the list is looked at without being woken. */
  readonly idle_ms?: number;
}

const itemsPerRoundMax = 200;
const rememberedMax = 10_000;

/**
 * Runs a worker until its signal aborts: a round on every wake, and at least every `idle_ms`.
 * An item still being worked on is passed over, so each key has one action at a time and a slow one delays no other.
 */
export function runWorker<T>(worker: Worker<T>, run: WorkerRun): Observable<WorkReport> {
  const busy = new Set<string>();
  const shares = new Map<string, number>();
  /** Keys known to have no noted failure: their next success needs no note either. */
  const clean = new Set<string>();
  const { signal, clock, idle_ms = 500 } = run;
  let woken = false;
  const waking = run.wake.subscribe(() => {
    woken = true;
  });
  signal.addEventListener('abort', () => waking.unsubscribe(), { once: true });

  const pause = () => {
    if (signal.aborted) return EMPTY;
    if (woken) return of(undefined);
    return race(run.wake, from(clock.sleep(idle_ms, signal))).pipe(take(1));
  };

  const round = defer(() => {
    if (signal.aborted) return EMPTY;
    woken = false;
    const room = itemsPerRoundMax - busy.size;
    return room > 0 ? from(worker.due(itemsPerRoundMax, clock.now())) : of([]);
  }).pipe(
    mergeMap((items) => items.filter(begin)),
    catchError((error: unknown) => of({ stalled: error })),
  );

  return round.pipe(
    repeat({ delay: pause }),
    mergeMap((item) => from(isStall(item) ? stalled(item.stalled) : actOn(item)), worker.concurrency),
  );

  /** @returns whether the item is to be worked on; it has its place from here on */
  function begin(item: T): boolean {
    const { share } = worker;
    const taken = share ? (shares.get(share.of(item)) ?? 0) : 0;
    if (busy.has(worker.keyOf(item)) || (share && taken >= share.max)) return false;
    busy.add(worker.keyOf(item));
    if (share) shares.set(share.of(item), taken + 1);
    return true;
  }

  function end(item: T): void {
    const { share } = worker;
    busy.delete(worker.keyOf(item));
    if (!share) return;
    const left = (shares.get(share.of(item)) ?? 1) - 1;
    if (left > 0) shares.set(share.of(item), left);
    else shares.delete(share.of(item));
  }

  async function actOn(item: T): Promise<WorkReport> {
    const key = worker.keyOf(item);
    try {
      await worker.act(item, signal);
      if (!clean.has(key)) await run.failures.succeeded(worker.name, key);
      if (clean.size >= rememberedMax) clean.clear();
      clean.add(key);
      return { worker: worker.name, kind: 'done', key };
    } catch (error) {
      if (signal.aborted) return { worker: worker.name, kind: 'interrupted', key };
      clean.delete(key);
      return await run.failures
        .failed(worker.name, key, error, clock.now())
        .then((): WorkReport => ({ worker: worker.name, kind: 'failed', key, error }), stalled);
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
