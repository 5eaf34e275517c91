/** Divides a task over the processes that do it: each share has a lease, and each process takes its fair part of them. */
import type { Clock } from '../../commands/ports.ts';
import type { Leases } from '../postgres/leases.ts';

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
