/** Audits once a day at a time of the day (UTC), and tells how old the last one is. */

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Type, { type Static } from 'typebox';
import Value from 'typebox/value';
import type { Clock } from '../../../commands/ports.ts';
import { closed, Text, Time } from '../../../domain/schema.ts';
import { epochMs } from '../../../domain/time.ts';

export interface NightlyDeps {
  readonly clock: Clock;
  /** `HH:MM`, UTC. */
  readonly at: string;
  /** The last one that came to its end; null before the first. */
  readonly last: () => LastAudit | null;
  /** Ends soon after its signal aborts. @throws Error when it could not come to its end */
  readonly audit: (signal: AbortSignal) => Promise<LastAudit>;
  readonly tell: {
    /** Each minute, also while one runs. @param age_ms since the last one ended; since the role began where there is none */
    standing(age_ms: number, last: LastAudit | null): void;
    found(last: LastAudit): void;
    failed(error: unknown): void;
    stale(age_ms: number): void;
  };
}

const day_ms = 24 * 60 * 60_000;
/** What an audit may take: one that takes longer is ended. The next one goes on where it stopped reading. */
export const auditMost_ms = 6 * 60 * 60_000;
export const stale_ms = day_ms + auditMost_ms;
const look_ms = 60_000;

/** The next moment behind `now` at which the clocks of UTC show `at`. */
export function nextAt(now_ms: number, at: string): number {
  const [hours = 0, minutes = 0] = at.split(':').map(Number);
  const today_ms = Math.floor(now_ms / day_ms) * day_ms + (hours * 60 + minutes) * 60_000;
  return today_ms > now_ms ? today_ms : today_ms + day_ms;
}

/**
 * Resolves when the signal has aborted and the audit under way has ended.
 *
 * An hour that was missed, because nobody ran the role or the process died in the audit, is made up when it begins again. One that fails is
 * tried again the next day; a crash in it loses nothing but the time.
 */
export async function runNightly({ clock, at, last, audit, tell }: NightlyDeps, signal: AbortSignal): Promise<void> {
  const now_ms = (): number => epochMs(clock.now());
  const began_ms = now_ms();
  /** When the last one ended; null of one that says that it ends later than now: some clock was wrong. */
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

// What an audit that came to its end leaves in a file beside its others, so that a restart knows it.

const LastAudit = Type.Object(
  {
    /** When it came to its end. */
    at: Time,
    findings: Type.Integer({ minimum: 0 }),
    /** Of the first findings: code and stream. */
    told: Type.Array(Text(1_000), { maxItems: 5 }),
    /** What could not be looked at. */
    gaps: Type.Integer({ minimum: 0 }),
  },
  closed,
);
export type LastAudit = Static<typeof LastAudit>;

/** Of the audit's files, where nobody names another. */
export const auditDirectory = (dataDir: string): string => join(dataDir, 'audit');

const fileIn = (directory: string): string => join(directory, 'last.json');

/** @param directory of the audit's files. @returns null where none has come to its end, or what is there is no outcome */
export function readLast(directory: string): LastAudit | null {
  try {
    const left: unknown = JSON.parse(readFileSync(fileIn(directory), 'utf8'));
    return Value.Check(LastAudit, left) && !Number.isNaN(Date.parse(left.at)) ? left : null;
  } catch {
    return null;
  }
}

/** Crash anywhere: the file is the one before, or this. */
export function leaveLast(directory: string, { told, ...last }: LastAudit): void {
  const file = fileIn(directory);
  const short = told.slice(0, 5).map((each) => each.slice(0, 1_000));
  writeFileSync(`${file}.part`, JSON.stringify({ ...last, told: short }), { mode: 0o600 });
  renameSync(`${file}.part`, file);
}
