/**
 * Compares this machine's clock with the newest blocks of its chains. Payments end by the chains' clocks but are dated by this one: where it is
 * wrong they are born expired, or wait for too long.
 */
import type { Clock } from '../../../commands/ports.ts';
import { epochMs, type Instant } from '../../../domain/time.ts';

/** Beyond this the clock is wrong: blocks are seconds old, and their own clocks are off by seconds. */
export const clockOffsetMax_ms = 60_000;
const look_ms = 60_000;
const answer_ms = 10_000;

export interface ClockWatchDeps {
  readonly clock: Clock;
  /** For each chain the time of its newest block, asked of its nodes now. Each throws what its failure is. */
  readonly newest: readonly ((signal: AbortSignal) => Promise<Instant>)[];
  readonly observe: (offset_ms: number) => void;
  readonly alarm: (message: string) => void;
}

export interface ClockWatch {
  /** Looks at once, then every minute, until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Why the clock is not to be trusted, as last seen; undefined while it is, and while no chain can tell. */
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

/** Of an even number the one nearer to nothing: one chain that stands still, or one node that lies, is believed by nobody. */
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
