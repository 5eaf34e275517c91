/** Notifications of an app for one of its members: the bell's list, and the member's choice. */
import { defaultChoice, type NoticeKind, type NotificationChoice } from '../domain/merchant/notifications.ts';
import { hour_ms, type Instant, plus } from '../domain/time.ts';
import type { Sql } from '../projections/sql.ts';
import { decimalText } from './sql.ts';

export interface AppNotice {
  readonly kind: NoticeKind;
  readonly at: Instant;
  /** Number of webhooks that were not accepted in that hour; otherwise 1. */
  readonly count: number;
  readonly paymentId: string | null;
  readonly amount: string | null;
  readonly tokenSymbol: string | null;
  /** Text of a summary; null for other kinds. */
  readonly line: string | null;
}

export interface MemberNotices {
  readonly choice: NotificationChoice;
  /** Newest first, at most `noticesMax`. */
  readonly notices: readonly AppNotice[];
  /** Time up to which the member has read them; null for never. */
  readonly seenAt: Instant | null;
}

export const noticesMax = 50;
/** The bell lists notices of this age. */
export const noticesFor_ms = 30 * 24 * hour_ms;
/** Fewer webhooks that were not accepted in an hour are no notification. */
export const failingMin = 3;
/** Newest webhooks that were not accepted, which the list groups by hour. */
const failuresRead = 2_000;

interface Choice {
  readonly mail: readonly NoticeKind[];
  readonly bell: readonly NoticeKind[];
  readonly large_microUsd: string;
}

/** Callers check that the person is in the app's team. @throws Unavailable */
export async function memberChoice(sql: Sql, appId: string, developerId: string): Promise<NotificationChoice> {
  const [chosen] = await sql.query<Choice>(
    'SELECT mail, bell, trunc(large * 1000000)::text AS "large_microUsd" FROM app_notifications WHERE app_id = $1 AND developer_id = $2',
    [appId, developerId],
  );
  if (!chosen) return defaultChoice;
  return { mail: [...chosen.mail], bell: [...chosen.bell], large_microUsd: chosen.large_microUsd };
}

async function readUntil(sql: Sql, appId: string, developerId: string): Promise<Instant | null> {
  const [reader] = await sql.query<{ at: Instant }>(
    'SELECT seen_at AS at FROM ops.notice_readers WHERE app_id = $1 AND developer_id = $2',
    [appId, developerId],
  );
  return reader?.at ?? null;
}

/** Callers check that the person is in the app's team. @throws Unavailable */
export async function memberNotices(
  sql: Sql,
  appId: string,
  developerId: string,
  now: Instant,
): Promise<MemberNotices> {
  const [choice, seenAt] = await Promise.all([
    memberChoice(sql, appId, developerId),
    readUntil(sql, appId, developerId),
  ]);
  return { choice, seenAt, notices: await listNotices(sql, appId, choice, plus(now, -noticesFor_ms)) };
}

/** Number of unread notices, at most `noticesMax`. @throws Unavailable */
export async function countUnread(sql: Sql, appId: string, developerId: string, now: Instant): Promise<number> {
  const { notices, seenAt } = await memberNotices(sql, appId, developerId, now);
  return unreadOf(notices, seenAt).length;
}

export const unreadOf = (notices: readonly AppNotice[], seenAt: Instant | null): readonly AppNotice[] =>
  notices.filter(({ at }) => seenAt === null || at > seenAt);

/** Reads a bounded range of an index per kind. */
async function listNotices(
  sql: Sql,
  appId: string,
  { bell, large_microUsd }: NotificationChoice,
  since: Instant,
): Promise<readonly AppNotice[]> {
  if (bell.length === 0) return [];
  const newest = `ORDER BY at DESC LIMIT ${noticesMax}`;
  const nothing = 'NULL::text AS "paymentId", NULL::numeric AS amount, NULL::text AS "tokenSymbol"';
  const ofPayments = 'payment_id AS "paymentId", amount, token_symbol AS "tokenSymbol", NULL::text AS line';
  const rows = await sql.query<AppNotice>(
    `SELECT * FROM (
       (SELECT kind, at, 1 AS count, ${ofPayments} FROM notices
         WHERE app_id = $1 AND kind = 'moneyHeld' AND kind = ANY ($2) AND at > $3 ${newest})
       UNION ALL
       (SELECT kind, at, 1, ${ofPayments} FROM notices
         WHERE app_id = $1 AND kind = 'largePayment' AND kind = ANY ($2) AND at > $3 AND amount >= $4::numeric / 1000000
         ${newest})
       UNION ALL
       (SELECT 'webhookFailing', max(at) AS at, count(*)::int, ${nothing}, NULL::text
          FROM (SELECT at FROM notices WHERE app_id = $1 AND kind = 'webhookFailing' AND kind = ANY ($2) AND at > $3
                 ORDER BY at DESC LIMIT ${failuresRead}) AS failed
         GROUP BY date_trunc('hour', at) HAVING count(*) >= ${failingMin} ORDER BY 2 DESC LIMIT ${noticesMax})
       UNION ALL
       (SELECT 'firstPayment', at, 1, ${nothing}, NULL::text FROM ops.notice_firsts
         WHERE app_id = $1 AND 'firstPayment' = ANY ($2) AND at > $3)
       UNION ALL
       (SELECT kind, at, 1, ${nothing}, line FROM ops.notice_summaries
         WHERE app_id = $1 AND kind = ANY ($2) AND at > $3 ${newest})
     ) AS listed ORDER BY at DESC, kind LIMIT ${noticesMax}`,
    [appId, bell, since, large_microUsd],
  );
  return rows.map((row) => ({ ...row, amount: row.amount === null ? null : decimalText(row.amount) }));
}

/** Marks everything up to a time as read. Never moves backwards. @throws Unavailable */
export const markRead = (sql: Sql, appId: string, developerId: string, at: Instant): Promise<unknown> =>
  sql.query(
    `INSERT INTO ops.notice_readers AS r (app_id, developer_id, seen_at)
     SELECT $1, developer_id, $3 FROM ops.people WHERE developer_id = $2
     ON CONFLICT (app_id, developer_id) DO UPDATE SET seen_at = greatest(r.seen_at, excluded.seen_at)`,
    [appId, developerId, at],
  );
