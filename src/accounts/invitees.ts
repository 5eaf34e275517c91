/** People whom the owner of an app invites to its team. */
import type { Clock, Ids } from '../../commands/ports.ts';
import type { Refusal } from '../../domain/decider.ts';
import type { Instant } from '../../domain/time.ts';
import type { SqlDatabase } from '../../projections/sql.ts';
import { badEmail, noMail } from './accounts.ts';
import { readEmail } from './emails.ts';
import { mention } from './people.ts';

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
