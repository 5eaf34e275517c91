import type { Observable } from 'rxjs';
import type { Clock } from '../../commands/ports.ts';
import type { WorkerShare } from '../../queries/work.ts';
import type { Leases } from '../postgres/leases.ts';
import type { Telemetry } from '../process/telemetry.ts';
import { runWorker, type Worker, type WorkerRun } from './engine.ts';

// Divides a task over its processes: each share has a lease, and each process holds its fair number of them.

export interface ShareDivision {
  readonly leases: Pick<Leases, 'hold' | 'present'>;
  readonly clock: Clock;
  /** Name of the task. Processes with different numbers of shares do its work twice; only the fences on their writes prevent harm. */
  readonly name: string;
  readonly shares: number;
  readonly signal: AbortSignal;
}

/** Interval at which a process detects others that joined or left. */
const look_ms = 2_000;

/**
 * Runs `work` for each share that this process holds, until the signal aborts. A process with more than its fair number, because another
 * has joined, releases shares; those of a process that left are taken over.
 *
 * @param work of a share, counted from 1; ends soon after its signal aborts
 * @throws anything that `work` throws
 */
export async function divideShares(
  { leases, clock, name, shares, signal }: ShareDivision,
  work: (share: number, held: AbortSignal) => Promise<void>,
): Promise<void> {
  const mine = new Map<number, AbortController>();
  let fair = 0;

  /** While the count is unknown it stays unchanged. */
  async function count(): Promise<void> {
    const present = await leases.present(name).catch(() => null);
    if (present !== null) fair = Math.ceil(shares / present);
    for (const giveUp of [...mine.values()].slice(fair)) giveUp.abort();
  }

  async function watch(): Promise<void> {
    while (!signal.aborted) {
      await clock.sleep(look_ms, signal);
      if (!signal.aborted) await count();
    }
  }

  async function take(share: number): Promise<void> {
    while (!signal.aborted) {
      if (mine.size >= fair) {
        await clock.sleep(look_ms, signal);
        continue;
      }
      const giveUp = new AbortController();
      await leases.hold(`${name}:${share}/${shares}`, AbortSignal.any([signal, giveUp.signal]), async (held) => {
        // Other shares were acquired first: this one is for another process.
        if (mine.size >= fair) return;
        mine.set(share, giveUp);
        try {
          await work(share, held);
        } finally {
          mine.delete(share);
        }
      });
    }
  }

  await count();
  await Promise.all([watch(), ...Array.from({ length: shares }, (_, before) => take(before + 1))]);
}

export interface WorkersDeps {
  readonly leases: Leases;
  readonly clock: Clock;
  readonly failures: WorkerRun['failures'];
  readonly telemetry: Telemetry;
  /** Emits when a to-do list may have grown. */
  readonly wake: Observable<unknown>;
}

/** A worker, its wake (default: the role's), its maximum pause without a wake, and the record of its failures (default: the role's). */
export interface RoleWorker {
  // biome-ignore lint/suspicious/noExplicitAny: a worker hands its own items to itself; nobody else reads them
  readonly worker: Worker<any>;
  readonly wake?: Observable<unknown>;
  readonly idle_ms?: number;
  readonly failures?: WorkersDeps['failures'];
}

/**
 * Runs a role's workers while this process holds the role's lease: one active instance, hot standbys. Resolves when the signal has aborted
 * and started work has ended.
 */
export const runRoleWorkers = (
  deps: WorkersDeps,
  role: string,
  workers: readonly RoleWorker[],
  signal: AbortSignal,
): Promise<void> => deps.leases.hold(leaseOf(role), signal, (held) => runWorkers(deps, role, workers, held));

/**
 * Runs a role whose payments are divided over all its instances.
 * @param shares number of shares; with one it is as above
 */
export const runSharedWorkers = (
  deps: WorkersDeps,
  role: string,
  shares: number,
  workersOf: (share: WorkerShare) => readonly RoleWorker[],
  signal: AbortSignal,
): Promise<void> =>
  shares === 1
    ? runRoleWorkers(deps, role, workersOf({ number: 1, of: 1 }), signal)
    : divideShares({ ...deps, name: leaseOf(role), shares, signal }, (number, held) =>
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
