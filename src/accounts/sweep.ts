import { hour_ms, type Instant, plus } from '../../domain/time.ts';
import type { Sql } from '../../projections/sql.ts';
import { unproved_ms } from './people.ts';
import { sessionIdle_ms, sessionLife_ms } from './sessions.ts';
import { signsFor_ms } from './signingKeys.ts';

/** Removes what is over. Nothing depends on when: whoever reads these rows looks at their times himself. */
export async function sweep(sql: Sql, now: Instant): Promise<void> {
  await sql.query('DELETE FROM ops.challenges WHERE expires_at <= $1', [now]);
  await sql.query('DELETE FROM ops.registrations WHERE expires_at <= $1', [now]);
  await sql.query('DELETE FROM ops.mails WHERE expires_at <= $1', [now]);
  await sql.query('DELETE FROM ops.sessions WHERE expires_at <= $1 OR seen_at <= $2', [
    now,
    plus(now, -sessionIdle_ms),
  ]);
  await sql.query('DELETE FROM ops.people WHERE proved_at IS NULL AND invited_at IS NULL AND mentioned_at <= $1', [
    plus(now, -unproved_ms),
  ]);
  await sql.query('DELETE FROM ops.signing_keys WHERE created_at <= $1', [
    plus(now, -signsFor_ms - sessionLife_ms - hour_ms),
  ]);
}
