/** People, by their e-mail and by the random id that events know. */
import { hour_ms, type Instant, plus } from '../../domain/time.ts';
import type { Sql } from '../../projections/sql.ts';
import type { Person } from './accounts.ts';

export interface KnownPerson extends Person {
  readonly invitedAt: Instant | null;
}

/** How long somebody is remembered who was named and never proved it. */
export const unproved_ms = 24 * hour_ms;

const columns =
  'developer_id AS "developerId", email, invited_at AS "invitedAt", proved_at AS "provedAt", mentioned_at AS "mentionedAt"';
const isKnown = '(proved_at IS NOT NULL OR invited_at IS NOT NULL OR mentioned_at > $2)';

export async function findByEmail(sql: Sql, email: string, now: Instant): Promise<KnownPerson | null> {
  const [found] = await sql.query<KnownPerson>(`SELECT ${columns} FROM ops.people WHERE email = $1 AND ${isKnown}`, [
    email,
    plus(now, -unproved_ms),
  ]);
  return found ?? null;
}

export async function findPerson(sql: Sql, developerId: string): Promise<Person | null> {
  const [found] = await sql.query<Person>(
    'SELECT developer_id AS "developerId", email, proved_at AS "provedAt" FROM ops.people WHERE developer_id = $1',
    [developerId],
  );
  return found ?? null;
}

/** The person of an address, who is made when it is named for the first time. */
export async function mention(sql: Sql, email: string, newId: string, now: Instant): Promise<KnownPerson> {
  const [person] = await sql.query<KnownPerson>(
    `INSERT INTO ops.people (developer_id, email, mentioned_at) VALUES ($1, $2, $3)
     ON CONFLICT (email) DO UPDATE SET mentioned_at = excluded.mentioned_at RETURNING ${columns}`,
    [newId, email, now],
  );
  return person as KnownPerson;
}

export async function noteProof(sql: Sql, developerId: string, now: Instant): Promise<void> {
  await sql.query('UPDATE ops.people SET proved_at = coalesce(proved_at, $2) WHERE developer_id = $1', [
    developerId,
    now,
  ]);
}

export async function noteInvitation(sql: Sql, developerId: string, now: Instant): Promise<void> {
  await sql.query('UPDATE ops.people SET invited_at = $2 WHERE developer_id = $1', [developerId, now]);
}

/** With everything that is theirs but the apps, which go on without a person. @returns false when nobody has the address */
export async function erasePerson(sql: Sql, email: string): Promise<string | null> {
  const [erased] = await sql.query<{ id: string }>(
    'DELETE FROM ops.people WHERE email = $1 RETURNING developer_id AS id',
    [email],
  );
  return erased?.id ?? null;
}
