import type { Observable } from 'rxjs';
import type { Clock } from '../../commands/ports.ts';
import type { Share } from '../../queries/work.ts';
import type { Leases } from '../postgres/leases.ts';
import type { Telemetry } from '../process/telemetry.ts';
import { divide } from './division.ts';
import { runWorker, type Worker, type WorkerRun } from './engine.ts';

export interface WorkersDeps {
  readonly leases: Leases;
  readonly clock: Clock;
  readonly failures: WorkerRun['failures'];
  readonly telemetry: Telemetry;
  /** Emits when a to-do list may have grown. */
  readonly wake: Observable<unknown>;
}

/**
 * A worker, what wakes it (left out: what wakes the role), the longest pause before it reads its list without a wake, and where its
 * failures are noted (left out: where the role's are).
 */
export interface RoleWorker {
  // biome-ignore lint/suspicious/noExplicitAny: a worker hands its own items to itself; nobody else reads them
  readonly worker: Worker<any>;
  readonly wake?: Observable<unknown>;
  readonly idle_ms?: number;
  readonly failures?: WorkersDeps['failures'];
}

/**
 * Runs a role's workers while this process holds the role's lease: one active instance, hot standbys.
 * Resolves when the signal has aborted and what was begun has ended.
 */
export const runRoleWorkers = (
  deps: WorkersDeps,
  role: string,
  workers: readonly RoleWorker[],
  signal: AbortSignal,
): Promise<void> => deps.leases.hold(leaseOf(role), signal, (held) => runWorkers(deps, role, workers, held));

/**
 * The same of a role whose payments are divided over all instances that have it.
 * @param shares how many parts there are; with one it is as above
 */
export const runSharedWorkers = (
  deps: WorkersDeps,
  role: string,
  shares: number,
  workersOf: (share: Share) => readonly RoleWorker[],
  signal: AbortSignal,
): Promise<void> =>
  shares === 1
    ? runRoleWorkers(deps, role, workersOf({ number: 1, of: 1 }), signal)
    : divide({ ...deps, name: leaseOf(role), shares, signal }, (number, held) =>
        runWorkers(deps, `${role}:${number}/${shares}`, workersOf({ number, of: shares }), held),
      );

const leaseOf = (role: string): string => `subscribers:${role}`;

async function runWorkers(
  deps: WorkersDeps,
  role: string,
  workers: readonly RoleWorker[],
  held: AbortSignal,
): Promise<void> {
  const { clock, telemetry } = deps;
  telemetry.active.set({ role }, 1);
  await Promise.all(
    workers.map(
      ({ worker, wake = deps.wake, idle_ms, failures = deps.failures }) =>
        new Promise<void>((resolve, reject) => {
          const run = { wake, clock, failures, signal: held, ...(idle_ms !== undefined && { idle_ms }) };
          runWorker(worker, run).subscribe({ next: telemetry.countWork, complete: resolve, error: reject });
        }),
    ),
  );
  telemetry.active.set({ role }, 0);
}
