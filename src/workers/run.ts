import type { Observable } from 'rxjs';
import type { Clock } from '../../commands/ports.ts';
import type { Share } from '../../queries/work.ts';
import type { Leases } from '../postgres/leases.ts';
import type { Telemetry } from '../process/telemetry.ts';
import { runWorker, type Worker, type WorkerRun } from './engine.ts';

// Divides a task over the processes that do it: each share has a lease, and each process takes its fair part of them.

export interface Division {
  readonly leases: Pick<Leases, 'hold' | 'present'>;
  readonly clock: Clock;
  /** Of the task. Processes that name other numbers of shares do its work twice, and are kept from harm by what they write alone. */
  readonly name: string;
  readonly shares: number;
  readonly signal: AbortSignal;
}

/** How soon a process notices that another one came or went. */
const look_ms = 2_000;

/**
 * Runs `work` for each share that this process holds, until the signal aborts. Who holds more than its part, because another process has
 * come, gives shares up; those of one that has gone are taken over.
 *
 * @param work of a share, counted from 1; ends soon after its signal aborts
 * @throws what `work` throws
 */
export async function divide(
  { leases, clock, name, shares, signal }: Division,
  work: (share: number, held: AbortSignal) => Promise<void>,
): Promise<void> {
  const mine = new Map<number, AbortController>();
  let fair = 0;

  /** While nobody can say it is as it was. */
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
        // Other shares came first: this one is another process's.
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
