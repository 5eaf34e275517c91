/** Audits once a day at a time of the day (UTC), and tells how old the last one is. */
import type { Clock } from '../../commands/ports.ts';
import { epochMs, type Instant } from '../../domain/time.ts';

/** What an audit has left: in a file beside its others, so that a restart knows it. */
export interface LastAudit {
  readonly at: Instant;
  readonly findings: number;
  /** Of the first of them; at most a few. */
  readonly told: readonly string[];
  /** What could not be looked at. */
  readonly gaps: number;
}

export interface NightlyDeps {
  readonly clock: Clock;
  /** `HH:MM`, UTC. */
  readonly at: string;
  /** The last one that came to its end; null before the first. */
  readonly last: () => Promise<LastAudit | null>;
  /** @throws Error when it could not come to its end */
  readonly audit: (signal: AbortSignal) => Promise<LastAudit>;
  readonly tell: {
    /** @param age_ms since the last one ended; since the role began where there is none */
    standing(age_ms: number, last: LastAudit | null): void;
    found(last: LastAudit): void;
    failed(error: unknown): void;
    stale(age_ms: number): void;
  };
}

const day_ms = 24 * 60 * 60_000;
/** A day, and what an audit may take. */
export const stale_ms = day_ms + 6 * 60 * 60_000;
const look_ms = 60_000;

/** The next moment behind `now` at which the clocks of UTC show `at`. */
export function nextAt(now_ms: number, at: string): number {
  const [hours = 0, minutes = 0] = at.split(':').map(Number);
  const today_ms = Math.floor(now_ms / day_ms) * day_ms + (hours * 60 + minutes) * 60_000;
  return today_ms > now_ms ? today_ms : today_ms + day_ms;
}

/** Resolves when the signal has aborted. One that fails is tried again the next day; a crash in it loses nothing but the time. */
export async function runNightly({ clock, at, last, audit, tell }: NightlyDeps, signal: AbortSignal): Promise<void> {
  const began_ms = epochMs(clock.now());
  let due_ms = nextAt(began_ms, at);
  let isStale = false;
  while (!signal.aborted) {
    if (epochMs(clock.now()) >= due_ms) {
      await audit(signal).then(
        (done) => done.findings > 0 && tell.found(done),
        (error: unknown) => !signal.aborted && tell.failed(error),
      );
      due_ms = nextAt(epochMs(clock.now()), at);
    }
    const known = await last();
    const age_ms = epochMs(clock.now()) - (known ? epochMs(known.at) : began_ms);
    tell.standing(age_ms, known);
    if (age_ms > stale_ms && !isStale) tell.stale(age_ms);
    isStale = age_ms > stale_ms;
    await clock.sleep(look_ms, signal);
  }
}
