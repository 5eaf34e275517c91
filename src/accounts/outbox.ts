/** Queue of mail in Postgres: written sealed in the transaction of its cause, and deleted when it is sent. */
import { type Clock, type Ids, Unavailable } from '../../commands/ports.ts';
import { type Instant, plus } from '../../domain/time.ts';
import type { Sql } from '../../projections/sql.ts';
import type { SecretBox } from '../security/masterKey.ts';
import type { EmailText } from './emails.ts';

export interface Mail extends EmailText {
  readonly to: string;
}

export interface NewMail extends EmailText {
  /** Idempotency key. Default: a new id. */
  readonly mailId?: string;
  /** Null for mail without a recipient, which takes the same work. */
  readonly to: { readonly developerId: string; readonly email: string } | null;
  /** Apps that the mail is about: it is not sent to a person who has left one of their teams. */
  readonly appIds?: readonly string[];
  /** Age after which it is not sent any more. */
  readonly life_ms: number;
}

export interface Outbox {
  /** @param sql the transaction of its cause. @throws Unavailable if the queue is full */
  put(sql: Sql, mail: NewMail): Promise<void>;
  /** Ids of mail to send, oldest first, including expired mail, which `open` deletes. */
  due(max: number, now: Instant): Promise<readonly string[]>;
  /** Null for mail without a recipient, expired mail, deleted mail, and mail about an app whose team the person has left. */
  open(mailId: string): Promise<Mail | null>;
  remove(mailId: string): Promise<void>;
}

export interface OutboxDeps {
  readonly sql: Sql;
  readonly box: SecretBox;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Pick<Ids, 'eventId'>;
}

export const mailsChannel = 'mails';
export const mailsWorkerName = 'mails';
/** More than a mail server accepts in an hour. */
const waitingMax = 10_000;
export const mailContext = (mailId: string): string => `mail:${mailId}`;

export function createOutbox({ sql, box, clock, ids }: OutboxDeps): Outbox {
  return {
    async put(tx, { mailId = ids.eventId(), to, subject, text, appIds, life_ms }) {
      const now = clock.now();
      const sealed = box.seal(JSON.stringify({ to: to?.email ?? null, subject, text }), mailContext(mailId));
      const [room] = await tx.query(
        'SELECT 1 WHERE (SELECT count(*) FROM (SELECT FROM ops.mails LIMIT $1) AS waiting) < $1',
        [waitingMax],
      );
      if (!room) throw new Unavailable('too many mails wait to be sent: try again later', 60);
      await tx.query(
        `INSERT INTO ops.mails (mail_id, developer_id, sealed, created_at, expires_at, app_ids) VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT DO NOTHING`,
        [mailId, to?.developerId ?? null, sealed, now, plus(now, life_ms), appIds ?? null],
      );
      await tx.query(`SELECT pg_notify($1, '')`, [mailsChannel]);
    },

    async due(max, now) {
      const rows = await sql.query<{ mailId: string }>(
        `SELECT mail_id AS "mailId" FROM ops.mails m
          WHERE expires_at <= $2 OR NOT EXISTS (SELECT FROM ops.work_failures f
            WHERE f.worker = $1 AND f.key = m.mail_id AND (f.parked_at IS NOT NULL OR f.next_attempt_at > $2))
          ORDER BY created_at LIMIT $3`,
        [mailsWorkerName, now, max],
      );
      return rows.map(({ mailId }) => mailId);
    },

    async open(mailId) {
      const [row] = await sql.query<Waiting>(
        `SELECT sealed, developer_id AS "developerId", app_ids AS "appIds" FROM ops.mails
          WHERE mail_id = $1 AND developer_id IS NOT NULL AND expires_at > $2`,
        [mailId, clock.now()],
      );
      if (!row || (row.appIds !== null && (await hasLeft(sql, row.developerId, row.appIds)))) return null;
      return JSON.parse(box.open(row.sealed, mailContext(mailId))) as Mail;
    },

    async remove(mailId) {
      await sql.query('DELETE FROM ops.mails WHERE mail_id = $1', [mailId]);
    },
  };
}

interface Waiting {
  readonly sealed: string;
  readonly developerId: string;
  readonly appIds: readonly string[] | null;
}

/** True for a person who is neither owner nor member of one of the apps. */
async function hasLeft(sql: Sql, developerId: string, appIds: readonly string[]): Promise<boolean> {
  const [left] = await sql.query(
    `SELECT 1 FROM unnest($2::text[]) AS about
      WHERE NOT EXISTS (SELECT FROM apps WHERE app_id = about AND developer_id = $1)
        AND NOT EXISTS (SELECT FROM app_members
          WHERE app_id = about AND developer_id = $1 AND invited_until IS NULL) LIMIT 1`,
    [developerId, appIds],
  );
  return left !== undefined;
}
