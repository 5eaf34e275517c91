/** Team of an app, and a person's invitations. */
import type { MemberRole, TeamRole } from '../domain/merchant/roles.ts';
import type { Instant } from '../domain/time.ts';
import type { Sql } from '../projections/sql.ts';

export interface TeamMember {
  readonly developerId: string;
  /** Null for a person whose data was erased. */
  readonly email: string | null;
  readonly role: TeamRole;
  /** End of an open invitation; null for a member. */
  readonly invitedUntil: Instant | null;
}

/** The owner first, then members and open invitations by address. Commands bound their number. @throws Unavailable */
export const listTeam = (sql: Sql, appId: string, now: Instant): Promise<readonly TeamMember[]> =>
  sql.query<TeamMember>(
    `SELECT developer_id AS "developerId", email, role, invited_until AS "invitedUntil"
       FROM (SELECT developer_id, 'owner' AS role, NULL::timestamptz AS invited_until FROM apps
              WHERE app_id = $1 AND developer_id IS NOT NULL
             UNION ALL
             SELECT developer_id, role, invited_until FROM app_members
              WHERE app_id = $1 AND (invited_until IS NULL OR invited_until > $2)) AS team
       LEFT JOIN ops.people USING (developer_id)
      ORDER BY role <> 'owner', invited_until IS NOT NULL, email, developer_id`,
    [appId, now],
  );

export interface TeamInvitation {
  readonly appId: string;
  /** Name in the app's profile; null without one. */
  readonly name: string | null;
  readonly role: MemberRole;
  readonly expiresAt: Instant;
}

/** Maximum invitations in a person's list. */
const invitationsMax = 50;

/** Open invitations of a person, the next to expire first. @throws Unavailable */
export const listInvitations = (sql: Sql, developerId: string, now: Instant): Promise<readonly TeamInvitation[]> =>
  sql.query<TeamInvitation>(
    `SELECT m.app_id AS "appId", content->>'name' AS name, role, invited_until AS "expiresAt"
       FROM app_members m JOIN apps a USING (app_id) LEFT JOIN ops.profiles p ON p.digest = a.profile_digest
      WHERE m.developer_id = $1 AND invited_until > $2 ORDER BY invited_until, m.app_id LIMIT $3`,
    [developerId, now, invitationsMax],
  );

type Names = readonly Pick<TeamMember, 'developerId' | 'email' | 'invitedUntil'>[];

/**
 * Name of a person for the members of an app: they know each other's addresses, and no address of a person who is not in the team.
 * @param former name of a person who left the team
 */
export function memberName(team: Names, developerId: string, former = 'a former member'): string {
  const member = team.find((each) => each.developerId === developerId);
  return member?.email ?? former;
}

/** Replaces the people in a text of the audit trail, `person:<id>`, by their names. */
export const withNames = (text: string, team: Names, former?: string): string =>
  text.replaceAll(/person:([0-9A-Za-z-]{1,64})/g, (_, developerId: string) => memberName(team, developerId, former));
