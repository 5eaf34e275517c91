/** What the operator does for people. */
import type { Clock, Ids } from '../../commands/ports.ts';
import { isRefusal, type Refusal } from '../../domain/decider.ts';
import { hour_ms } from '../../domain/time.ts';
import type { SqlDatabase } from '../../projections/sql.ts';
import { readEmail } from './email.ts';
import { invitationLetter } from './emails.ts';
import type { Outbox } from './outbox.ts';
import { erasePerson, mention, noteInvitation } from './people.ts';
import { badEmail } from './refusals.ts';

export interface OperatorDeps {
  readonly sql: SqlDatabase;
  readonly outbox: Pick<Outbox, 'put'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Pick<Ids, 'eventId'>;
}

const invitationLife_ms = 72 * hour_ms;

/** The person of an address, who may sign in from now on; nobody is told. Repeating it answers the same person. */
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

/** The same, and a mail says so. @param url where to register; null where the installation does not know its own address */
export async function invite(deps: OperatorDeps, text: string, url: string | null) {
  const person = await welcome(deps, text);
  if (isRefusal(person)) return person;
  await deps.sql.transaction((tx) =>
    deps.outbox.put(tx, { ...invitationLetter(url), to: person, life_ms: invitationLife_ms }),
  );
  return person;
}

/**
 * Removes a person with sessions, codes, registrations and mail, and what the apps show of themselves. The event log stays whole: it
 * never knew who it was. The apps go on without a person; the operator may give them to another.
 *
 * @returns the apps that the person had; a refusal when nobody has the address
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
