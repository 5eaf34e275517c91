/** People, by their e-mail address and by the random id that events contain. */
import type { Clock, Ids } from '../../commands/ports.ts';
import { isRefusal, type Refusal } from '../../domain/decider.ts';
import { hour_ms, type Instant, plus } from '../../domain/time.ts';
import type { Sql, SqlDatabase } from '../../projections/sql.ts';
import { badEmail, noMail, type Person } from './accounts.ts';
import { invitationEmail, readEmail } from './emails.ts';
import type { Outbox } from './outbox.ts';

export interface KnownPerson extends Person {
  readonly invitedAt: Instant | null;
  /** Until then a person whom only the owner of an app invited can prove the address; null for everybody else. */
  readonly joinsUntil: Instant | null;
}

/** Time after which a mentioned person without proof is forgotten. */
export const unproved_ms = 24 * hour_ms;

const columns =
  'developer_id AS "developerId", email, invited_at AS "invitedAt", proved_at AS "provedAt", mentioned_at AS "mentionedAt", joins_until AS "joinsUntil"';
const isKnown = '(proved_at IS NOT NULL OR invited_at IS NOT NULL OR mentioned_at > $2 OR joins_until > $3)';

export async function findByEmail(sql: Sql, email: string, now: Instant): Promise<KnownPerson | null> {
  const [found] = await sql.query<KnownPerson>(`SELECT ${columns} FROM ops.people WHERE email = $1 AND ${isKnown}`, [
    email,
    plus(now, -unproved_ms),
    now,
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

/** The person of an address, created at its first mention. */
export async function mention(sql: Sql, email: string, newId: string, now: Instant): Promise<KnownPerson> {
  const [person] = await sql.query<KnownPerson>(
    `INSERT INTO ops.people (developer_id, email, mentioned_at) VALUES ($1, $2, $3)
     ON CONFLICT (email) DO UPDATE SET mentioned_at = excluded.mentioned_at RETURNING ${columns}`,
    [newId, email, now],
  );
  return person as KnownPerson;
}

/** A person by id, with what admits the person. */
export async function findKnown(sql: Sql, developerId: string): Promise<KnownPerson | null> {
  const [found] = await sql.query<KnownPerson>(`SELECT ${columns} FROM ops.people WHERE developer_id = $1`, [
    developerId,
  ]);
  return found ?? null;
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

/**
 * Deletes the person and everything of theirs except the apps, which continue without an owner. @returns false if nobody has the address
 */
export async function erasePerson(sql: Sql, email: string): Promise<string | null> {
  const [erased] = await sql.query<{ id: string }>(
    'DELETE FROM ops.people WHERE email = $1 RETURNING developer_id AS id',
    [email],
  );
  return erased?.id ?? null;
}

/** Operations on people for the operator. */
export interface OperatorDeps {
  readonly sql: SqlDatabase;
  readonly outbox: Pick<Outbox, 'put'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Pick<Ids, 'eventId'>;
}

const invitationLife_ms = 72 * hour_ms;

/** Admits the person of an address without sending mail. Repeating it returns the same person. */
export async function welcome(
  { sql, clock, ids }: OperatorDeps,
  text: string,
): Promise<{ developerId: string; email: string } | Refusal> {
  const email = readEmail(text);
  if (email === undefined) return badEmail();
  return sql.transaction(async (tx) => {
    const now = clock.now();
    const { developerId } = await mention(tx, email, ids.eventId(), now);
    await noteInvitation(tx, developerId, now);
    return { developerId, email };
  });
}

/** Admits a person and sends them a mail. @param url registration page; null if the installation does not know its own address */
export async function invite(deps: OperatorDeps, text: string, url: string | null) {
  const person = await welcome(deps, text);
  if (isRefusal(person)) return person;
  await deps.sql.transaction((tx) =>
    deps.outbox.put(tx, { ...invitationEmail(url), to: person, life_ms: invitationLife_ms }),
  );
  return person;
}

/**
 * Deletes a person with sessions, codes, registrations and mail, and the profiles of their apps. The event log is unchanged: it contains no
 * personal data. The apps continue without an owner; the operator may give them to another person.
 *
 * @returns the person's apps; a refusal if nobody has the address
 */
export async function erase(
  { sql }: Pick<OperatorDeps, 'sql'>,
  text: string,
): Promise<{ apps: readonly string[] } | Refusal> {
  const email = readEmail(text);
  if (email === undefined) return badEmail();
  return sql.transaction(async (tx) => {
    const developerId = await erasePerson(tx, email);
    if (developerId === null) return { refused: 'notFound', message: 'nobody has this address: check it' };
    const owned = await tx.query<{ appId: string }>('SELECT app_id AS "appId" FROM apps WHERE developer_id = $1', [
      developerId,
    ]);
    const apps = owned.map(({ appId }) => appId);
    await tx.query('DELETE FROM ops.profiles WHERE app_id = ANY ($1)', [apps]);
    await tx.query('DELETE FROM ops.logos WHERE app_id = ANY ($1)', [apps]);
    return { apps };
  });
}

// People whom the owner of an app invites to its team.

export interface InviteesDeps {
  readonly sql: SqlDatabase;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Pick<Ids, 'eventId'>;
  readonly sendsMail: boolean;
}

/**
 * Finds or creates the person of an address, who can prove it until a time, also where nobody can register. The answer does not reveal
 * whether the address was known.
 */
export const createFindInvitee =
  ({ sql, clock, ids, sendsMail }: InviteesDeps) =>
  async (text: string, until: Instant): Promise<{ readonly developerId: string } | Refusal> => {
    const email = readEmail(text);
    if (email === undefined) return badEmail();
    if (!sendsMail) return noMail();
    return sql.transaction(async (tx) => {
      const { developerId } = await mention(tx, email, ids.eventId(), clock.now());
      // People who were admitted before stay admitted: their rows have no end.
      await tx.query(
        `UPDATE ops.people SET joins_until = greatest(joins_until, $2)
          WHERE developer_id = $1 AND invited_at IS NULL AND (proved_at IS NULL OR joins_until IS NOT NULL)`,
        [developerId, until],
      );
      return { developerId };
    });
  };
