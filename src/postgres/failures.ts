import { TransientError } from '../../commands/ports.ts';
import { type Instant, minute_ms, plus } from '../../domain/time.ts';
import type { Sql } from '../../projections/sql.ts';

export interface FailuresOptions {
  /** Number of counted failures after which a key is parked. */
  readonly attemptsMax?: number;
  /** Pause before the second attempt; each later pause doubles. */
  readonly firstPause_ms?: number;
  readonly pauseMax_ms?: number;
  /** Pause after an uncounted failure: an outage of another service. */
  readonly transientPause_ms?: number;
}

/** Failed attempts per key: a failing item waits, longer each time, and does not stop the others. */
export interface WorkFailures {
  /** @returns time of the next attempt; null if the key is parked */
  failed(worker: string, key: string, error: unknown, at: Instant): Promise<Instant | null>;
  /** Records a key for an attempt, unless it is recorded already. That is no failure. */
  note(worker: string, key: string, why: string, at: Instant): Promise<void>;
  succeeded(worker: string, key: string): Promise<void>;
  /** For an operator: retries the key at once, as if it had never failed. @returns false if it had not failed */
  unpark(worker: string, key: string, at: Instant): Promise<boolean>;
  /** Keys of a worker that are due and not parked: for work outside the to-do lists. */
  due(worker: string, max: number, now: Instant): Promise<readonly { readonly key: string }[]>;
}

const defaults: Required<FailuresOptions> = {
  attemptsMax: 10,
  firstPause_ms: 1_000,
  pauseMax_ms: 5 * minute_ms,
  transientPause_ms: 2_000,
};
const errorTextMax = 2_000;

/** The error's class decides, never its name. An error caused by a transient one is transient, and so is a group of transient ones. */
const isTransient = (error: unknown): boolean =>
  error instanceof TransientError ||
  (error instanceof AggregateError && error.errors.length > 0 && error.errors.every(isTransient)) ||
  (error instanceof Error && isTransient(error.cause));

/** Failed work in Postgres: it waits longer each time, then is parked and stays visible. Rebuilds do not change it. */
export function createFailures(sql: Sql, options: FailuresOptions = {}): WorkFailures {
  const { attemptsMax, firstPause_ms, pauseMax_ms, transientPause_ms } = { ...defaults, ...options };
  return {
    async failed(worker, key, error, at) {
      const counts = isTransient(error) ? 0 : 1;
      const [noted] = await sql.query<{ due: Instant | null }>(
        `INSERT INTO ops.work_failures AS f (worker, key, attempts, last_error, failed_at, next_attempt_at, parked_at)
         VALUES ($1, $2, $3::integer, $4, $5::timestamptz, $6, CASE WHEN $3::integer >= $9::integer THEN $5::timestamptz END)
         ON CONFLICT (worker, key) DO UPDATE
            SET attempts = f.attempts + excluded.attempts, last_error = excluded.last_error, failed_at = excluded.failed_at,
                next_attempt_at = CASE excluded.attempts WHEN 0 THEN excluded.next_attempt_at
                  ELSE excluded.failed_at + least($7 * power(2, least(f.attempts, 30)), $8) * interval '1 ms' END,
                parked_at = CASE WHEN f.attempts + excluded.attempts >= $9::integer
                  THEN coalesce(f.parked_at, excluded.failed_at) END
         RETURNING CASE WHEN f.parked_at IS NULL THEN f.next_attempt_at END AS due`,
        [
          worker,
          key,
          counts,
          textOf(error),
          at,
          plus(at, counts === 0 ? transientPause_ms : firstPause_ms),
          firstPause_ms,
          pauseMax_ms,
          attemptsMax,
        ],
      );
      return noted?.due ?? null;
    },

    async note(worker, key, why, at) {
      await sql.query(
        `INSERT INTO ops.work_failures (worker, key, attempts, last_error, failed_at, next_attempt_at)
         VALUES ($1, $2, 0, $3, $4, $5) ON CONFLICT (worker, key) DO NOTHING`,
        [worker, key, why, at, plus(at, firstPause_ms)],
      );
    },

    async succeeded(worker, key) {
      const done = 'DELETE FROM ops.work_failures WHERE worker = $1 AND key = $2';
      await sql.query(done, [worker, key], { prepared: true });
    },

    async unpark(worker, key, at) {
      const freed = await sql.query(
        `UPDATE ops.work_failures SET attempts = 0, parked_at = NULL, next_attempt_at = $3
          WHERE worker = $1 AND key = $2 RETURNING 1`,
        [worker, key, at],
      );
      return freed.length > 0;
    },

    due: (worker, max, now) =>
      sql.query(
        `SELECT key FROM ops.work_failures WHERE worker = $1 AND parked_at IS NULL AND next_attempt_at <= $2
          ORDER BY next_attempt_at LIMIT $3`,
        [worker, now, max],
      ),
  };
}

const textOf = (error: unknown): string =>
  (error instanceof Error ? `${error.name}: ${error.message}` : String(error))
    .replaceAll('\0', '')
    .slice(0, errorTextMax);
