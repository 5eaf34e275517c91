import type { Observable } from 'rxjs';
import type { Clock } from '../../commands/ports.ts';
import type { Leases } from '../runtime/leases.ts';
import type { Telemetry } from '../runtime/telemetry.ts';
import { runWorker, type Worker, type WorkerRun } from '../subscribers/worker.ts';

export interface WorkersDeps {
  readonly leases: Leases;
  readonly clock: Clock;
  readonly failures: WorkerRun['failures'];
  readonly telemetry: Telemetry;
  /** Emits when a to-do list may have grown. */
  readonly wake: Observable<unknown>;
}

/** A worker with what wakes it, the role's wake when left out, and how often it looks without being woken. */
export interface Shift {
  // biome-ignore lint/suspicious/noExplicitAny: a worker hands its own items to itself; nobody else looks at them
  readonly worker: Worker<any>;
  readonly wake?: Observable<unknown>;
  readonly idle_ms?: number;
}

/**
 * Runs a role's workers while this process holds the role's lease: one active instance, hot standbys.
 * Resolves when the signal has aborted and what was begun has ended.
 */
export async function runShifts(
  deps: WorkersDeps,
  role: string,
  shifts: readonly Shift[],
  signal: AbortSignal,
): Promise<void> {
  const { leases, clock, telemetry } = deps;
  await leases.hold(`subscribers:${role}`, signal, async (held) => {
    telemetry.active.set({ role }, 1);
    await Promise.all(
      shifts.map(
        ({ worker, wake = deps.wake, idle_ms }) =>
          new Promise<void>((resolve, reject) => {
            const run = {
              wake,
              clock,
              failures: deps.failures,
              signal: held,
              ...(idle_ms !== undefined && { idle_ms }),
            };
            runWorker(worker, run).subscribe({ next: telemetry.countWork, complete: resolve, error: reject });
          }),
      ),
    );
    telemetry.active.set({ role }, 0);
  });
}
