/**
 * Compares this machine's clock with the newest blocks of its chains. Payments expire by the chains' clocks but are dated by this one: with
 * a wrong clock they are born expired, or wait for too long.
 */
import type { Clock } from '../../../commands/ports.ts';
import { epochMs, type Instant } from '../../../domain/time.ts';

/** Above this the clock is wrong: blocks are seconds old, and their own clocks are off by seconds. */
export const clockOffsetMax_ms = 60_000;
const look_ms = 60_000;
const answer_ms = 10_000;

export interface ClockWatchDeps {
  readonly clock: Clock;
  /** For each chain the time of its newest block, queried from its nodes now. Each throws its failure. */
  readonly newest: readonly ((signal: AbortSignal) => Promise<Instant>)[];
  readonly observe: (offset_ms: number) => void;
  readonly alarm: (message: string) => void;
}

export interface ClockWatch {
  /** Checks at once, then every minute, until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Reason not to trust the clock, as of the last check; undefined while it is right, and while no chain answers. */
  trouble(): string | undefined;
}

export function watchClock({ clock, newest, observe, alarm }: ClockWatchDeps): ClockWatch {
  let trouble: string | undefined;

  async function look(signal: AbortSignal): Promise<void> {
    const patience = AbortSignal.any([signal, AbortSignal.timeout(answer_ms)]);
    const seen = await Promise.allSettled(
      newest.map(async (time) => {
        const chainTime = await time(patience);
        return epochMs(clock.now()) - epochMs(chainTime);
      }),
    );
    const offset_ms = middle(seen.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])));
    if (offset_ms === undefined || signal.aborted) return;
    observe(offset_ms);
    trouble = troubleOf(offset_ms);
    if (trouble !== undefined) alarm(trouble);
  }

  return {
    async run(signal) {
      while (!signal.aborted) {
        await look(signal);
        await clock.sleep(look_ms, signal);
      }
    },
    trouble: () => trouble,
  };
}

/** Median; of an even number the one nearer to zero: a single stalled chain, or a single lying node, does not count. */
export function middle(offsets_ms: readonly number[]): number | undefined {
  const sorted = offsets_ms.toSorted((a, b) => a - b);
  const [low, high] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[Math.floor(sorted.length / 2)]];
  if (low === undefined || high === undefined) return undefined;
  return Math.abs(low) < Math.abs(high) ? low : high;
}

function troubleOf(offset_ms: number): string | undefined {
  if (Math.abs(offset_ms) <= clockOffsetMax_ms) return undefined;
  const off_s = Math.round(Math.abs(offset_ms) / 1_000);
  return `this machine's clock is ${off_s} s ${offset_ms > 0 ? 'ahead of' : 'behind'} the newest blocks of its chains: set it (NTP)`;
}
