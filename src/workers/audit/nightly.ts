/** Audits once a day at a time of the day (UTC), and reports the age of the last audit. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Type, { type Static } from 'typebox';
import Value from 'typebox/value';
import type { Clock } from '../../../commands/ports.ts';
import { closed, Text, Time } from '../../../domain/schema.ts';
import { epochMs } from '../../../domain/time.ts';
import { writeWhole } from '../../lib/writeWhole.ts';

export interface NightlyDeps {
  readonly clock: Clock;
  /** `HH:MM`, UTC. */
  readonly at: string;
  /** Last completed audit; null before the first. */
  readonly last: () => LastAudit | null;
  /** Ends soon after its signal aborts. @throws Error if it could not complete */
  readonly audit: (signal: AbortSignal) => Promise<LastAudit>;
  readonly tell: {
    /** Called each minute, also during an audit. @param age_ms since the last one ended; since the role began if there is none */
    standing(age_ms: number, last: LastAudit | null): void;
    found(last: LastAudit): void;
    failed(error: unknown): void;
    stale(age_ms: number): void;
  };
}

const day_ms = 24 * 60 * 60_000;
/** Maximum duration of an audit: a longer one is ended. The next one continues where it stopped reading. */
export const auditMost_ms = 6 * 60 * 60_000;
export const stale_ms = day_ms + auditMost_ms;
const look_ms = 60_000;

/** Next moment after `now` at which UTC clocks show `at`. */
export function nextAt(now_ms: number, at: string): number {
  const [hours = 0, minutes = 0] = at.split(':').map(Number);
  const today_ms = Math.floor(now_ms / day_ms) * day_ms + (hours * 60 + minutes) * 60_000;
  return today_ms > now_ms ? today_ms : today_ms + day_ms;
}

/**
 * Resolves when the signal has aborted and the current audit has ended.
 *
 * A missed audit, because the role did not run or the process died, is made at the next start. A failed one is retried the next day; a
 * crash loses only time.
 */
export async function runNightly({ clock, at, last, audit, tell }: NightlyDeps, signal: AbortSignal): Promise<void> {
  const now_ms = (): number => epochMs(clock.now());
  const began_ms = now_ms();
  /** End of the last audit; null if it is in the future: some clock was wrong. */
  const ended_ms = (known: LastAudit | null): number | null =>
    known && epochMs(known.at) <= now_ms() ? epochMs(known.at) : null;
  let due_ms = nextAt(ended_ms(last()) ?? began_ms, at);
  let running: { readonly began_ms: number; readonly stop: AbortController; readonly ended: Promise<void> } | null =
    null;
  let isStale = false;

  function begin(): NonNullable<typeof running> {
    const stop = new AbortController();
    const ended = audit(AbortSignal.any([signal, stop.signal]))
      .then(
        (done) => done.findings > 0 && tell.found(done),
        (error: unknown) => !signal.aborted && tell.failed(stop.signal.aborted ? stop.signal.reason : error),
      )
      .then(() => {
        running = null;
        due_ms = nextAt(now_ms(), at);
      });
    return { began_ms: now_ms(), stop, ended };
  }
  while (!signal.aborted) {
    if (!running && now_ms() >= due_ms) running = begin();
    else if (running && now_ms() - running.began_ms >= auditMost_ms) running.stop.abort(new Error(tooLong));
    const known = last();
    const age_ms = now_ms() - (ended_ms(known) ?? began_ms);
    tell.standing(age_ms, known);
    if (age_ms > stale_ms && !isStale) tell.stale(age_ms);
    isStale = age_ms > stale_ms;
    await clock.sleep(look_ms, signal);
  }
  await running?.ended;
}

const tooLong = `it did not come to its end within ${auditMost_ms / 3_600_000} hours and was ended; the next one goes on where it stopped`;

// Outcome of a completed audit in a file, for a restarted process.

const LastAudit = Type.Object(
  {
    /** Time of completion. */
    at: Time,
    findings: Type.Integer({ minimum: 0 }),
    /** Codes and streams of the first findings. */
    told: Type.Array(Text(1_000), { maxItems: 5 }),
    /** Number of streams that could not be checked. */
    gaps: Type.Integer({ minimum: 0 }),
  },
  closed,
);
export type LastAudit = Static<typeof LastAudit>;

/** Default directory of the audit's files. */
export const auditDirectory = (dataDir: string): string => join(dataDir, 'audit');

const fileIn = (directory: string): string => join(directory, 'last.json');

/** @param directory of the audit's files. @returns null if no audit has completed, or the file is invalid */
export function readLast(directory: string): LastAudit | null {
  try {
    const left: unknown = JSON.parse(readFileSync(fileIn(directory), 'utf8'));
    return Value.Check(LastAudit, left) && !Number.isNaN(Date.parse(left.at)) ? left : null;
  } catch {
    return null;
  }
}

/** Atomic: after a crash the file is the former one or this one. */
export function leaveLast(directory: string, { told, ...last }: LastAudit): void {
  const file = fileIn(directory);
  const short = told.slice(0, 5).map((each) => each.slice(0, 1_000));
  writeWhole(file, JSON.stringify({ ...last, told: short }));
}
