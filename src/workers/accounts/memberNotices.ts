/**
 * Notifies members by mail of their app's payments, as each member chose. What happened is collected per member, app and kind, so that a
 * flood of events only raises a count; a mail to one person waits for the minimum interval and the daily maximum.
 */
import { ChainBroken } from '../../../commands/codec.ts';
import type { Clock, EventStore } from '../../../commands/ports.ts';
import { choiceOf, type NoticeKind } from '../../../domain/merchant/notifications.ts';
import type { MerchantState } from '../../../domain/merchant/state.ts';
import { epochMs, hour_ms, type Instant, instant, minute_ms, plus } from '../../../domain/time.ts';
import type { Sql, SqlDatabase } from '../../../projections/sql.ts';
import { failingMin } from '../../../queries/notices.ts';
import { decimalText } from '../../../queries/sql.ts';
import { type CollectedNotice, noticesEmail } from '../../accounts/emails.ts';
import type { Outbox } from '../../accounts/outbox.ts';
import { findPerson } from '../../accounts/people.ts';

export interface MemberNoticesDeps {
  readonly store: Pick<EventStore, 'tail' | 'eventAt'>;
  readonly sql: SqlDatabase;
  readonly outbox: Pick<Outbox, 'put'>;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  /** The app as the log has it now: read models may not know yet that a member was removed. */
  readonly stateOf: (appId: string) => Promise<MerchantState>;
  readonly dashboard: string | null;
  readonly recognizeLog: (signal: AbortSignal) => Promise<void>;
  readonly failed: (error: unknown) => void;
}

const name = 'memberNotices';
const pause_ms = 15_000;
/** Notices of one read. */
const batchMax = 500;
/** Older notices are not mailed, for example after a time without mail. */
const collected_ms = 72 * hour_ms;
/** Notices of this time go into one mail. */
export const collectFor_ms = 2 * minute_ms;
export const mailEvery_ms = 15 * minute_ms;
export const mailsPerDay = 10;
/** People who get mail in one round. */
const peopleMax = 200;
/** Failed webhooks below the threshold are forgotten after this time. */
const failuresFor_ms = hour_ms;
const mailLife_ms = 12 * hour_ms;
/** Hour (UTC) from which the summary of the day before is made. */
const summaryHour = 6;
const summariesMax = 100;
const summariesFor_ms = 60 * 24 * hour_ms;

/** Until the signal aborts. On one instance at a time: the caller holds a lease. */
export async function notifyMembers(deps: MemberNoticesDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await notifyOnce(deps, signal).catch(deps.failed);
    await deps.clock.sleep(pause_ms, signal);
  }
}

/** One round: collects what is new, then mails what is due. After a crash anywhere, the next round continues. */
export async function notifyOnce(deps: MemberNoticesDeps, signal: AbortSignal): Promise<void> {
  await deps.recognizeLog(signal);
  let more = true;
  while (more && !signal.aborted) more = await collect(deps);
  await noticeFirsts(deps);
  await summarize(deps);
  await mail(deps);
}

/** The app's state; null while its records are damaged. Nobody is notified about such an app, and the other apps continue. */
async function readableState(
  { stateOf, failed }: Pick<MemberNoticesDeps, 'stateOf' | 'failed'>,
  appId: string,
): Promise<MerchantState | null> {
  try {
    return await stateOf(appId);
  } catch (error) {
    if (!(error instanceof ChainBroken)) throw error;
    failed(error);
    return null;
  }
}

interface NewNotice {
  readonly app_id: string;
  readonly kind: NoticeKind;
  readonly microUsd: string | null;
  readonly event_id: string;
  readonly position: bigint;
  readonly at: Instant;
}

/** Collects a batch and moves the position in one transaction, so each notice counts once. @returns whether more may be there */
async function collect(deps: MemberNoticesDeps): Promise<boolean> {
  const { sql, clock } = deps;
  const after = await position(deps);
  const notices = await sql.query<NewNotice>(
    `SELECT app_id, kind, trunc(amount * 1000000)::text AS "microUsd", event_id, position, at
       FROM notices WHERE position > $1 ORDER BY position LIMIT $2`,
    [after, batchMax],
  );
  const last = notices.at(-1);
  if (!last) return false;
  const oldest = plus(clock.now(), -collected_ms);
  const due: Collected[] = [];
  for (const [appId, ofApp] of Map.groupBy(
    notices.filter(({ at }) => at > oldest),
    ({ app_id }) => app_id,
  ))
    due.push(...collectedBy(await readableState(deps, appId), appId, ofApp));
  await sql.transaction(async (tx) => {
    const moved = await tx.query(
      `UPDATE ops.followers SET position = $3, event_id = $4, applied_position = $3, applied_id = $4
        WHERE name = $1 AND position = $2 RETURNING 1`,
      [name, after, last.position, last.event_id],
    );
    if (moved.length === 0) throw new Error('another instance collects notices');
    await add(tx, due, clock.now());
  });
  return notices.length === batchMax;
}

/** The first start begins at the log's end: what happened before causes no mail. */
async function position({ sql, store }: MemberNoticesDeps): Promise<bigint> {
  const [kept] = await sql.query<{ position: bigint }>('SELECT position FROM ops.followers WHERE name = $1', [name]);
  if (kept) return kept.position;
  const tail = await store.tail();
  const end = await store.eventAt(tail);
  await sql.query('INSERT INTO ops.followers (name, position, event_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING', [
    name,
    tail,
    end?.eventId ?? null,
  ]);
  return tail;
}

interface Collected extends CollectedNotice {
  readonly developerId: string;
}

const membersOf = ({ developerId, members }: MerchantState): readonly string[] => [
  ...new Set([developerId, ...members.map((each) => each.developerId)].filter((each) => each !== null)),
];

function collectedBy(state: MerchantState | null, appId: string, notices: readonly NewNotice[]): readonly Collected[] {
  if (!state) return [];
  return membersOf(state).flatMap((developerId) => {
    const choice = choiceOf(state, developerId);
    if (!choice) return [];
    const isLarge = ({ kind, microUsd }: NewNotice): boolean =>
      kind !== 'largePayment' || BigInt(microUsd ?? 0) >= BigInt(choice.large_microUsd);
    const chosen = notices.filter((notice) => choice.mail.includes(notice.kind) && isLarge(notice));
    return [...Map.groupBy(chosen, ({ kind }) => kind)].map(([kind, { length }]) => ({
      ...{ developerId, appId, kind },
      ...{ count: length, line: null },
    }));
  });
}

/** A person who was erased meanwhile gets no row. */
async function add(tx: Sql, due: readonly Collected[], now: Instant): Promise<void> {
  for (const { developerId, appId, kind, count, line } of due)
    await tx.query(
      `INSERT INTO ops.notice_mails AS m (developer_id, app_id, kind, count, since, line)
       SELECT developer_id, $2, $3, $4, $5, $6 FROM ops.people WHERE developer_id = $1
       ON CONFLICT (developer_id, app_id, kind) DO UPDATE SET count = m.count + excluded.count, line = excluded.line`,
      [developerId, appId, kind, count, now, line],
    );
}

/** An app's first payment. Apps with an older one, as after an upgrade, are only noted. */
async function noticeFirsts(deps: MemberNoticesDeps): Promise<void> {
  const { sql, clock } = deps;
  const now = clock.now();
  const firsts = await sql.query<{ appId: string; at: Instant }>(
    `SELECT a.app_id AS "appId", first.hour AS at
       FROM apps a CROSS JOIN LATERAL (
         SELECT hour FROM hourly_stats s WHERE s.app_id = a.app_id AND s.count > 0 ORDER BY hour LIMIT 1) AS first
      WHERE NOT EXISTS (SELECT FROM ops.notice_firsts f WHERE f.app_id = a.app_id) LIMIT $1`,
    [batchMax],
  );
  for (const { appId, at } of firsts) {
    const isNew = epochMs(now) - epochMs(at) < collected_ms;
    const notice = { app_id: appId, kind: 'firstPayment', microUsd: null, event_id: '', position: 0n, at } as const;
    const due = isNew ? collectedBy(await readableState(deps, appId), appId, [notice]) : [];
    await sql.transaction(async (tx) => {
      const [added] = await tx.query(
        'INSERT INTO ops.notice_firsts (app_id, at) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING 1',
        [appId, at],
      );
      if (added) await add(tx, due, now);
    });
  }
}

type SummaryKind = 'dailySummary' | 'weeklySummary';

/** The last whole day or week (Monday to Sunday) whose summary is due, in UTC. */
export function periodOf(kind: SummaryKind, now: Instant): { readonly from: Instant; readonly until: Instant } {
  const day_ms = 24 * hour_ms;
  const today = Math.floor((epochMs(now) - summaryHour * hour_ms) / day_ms) * day_ms;
  if (kind === 'dailySummary') return { from: instant(today - day_ms), until: instant(today) };
  // 1970-01-01 was a Thursday: three days after a Monday.
  const monday = today - ((today / day_ms + 3) % 7) * day_ms;
  return { from: instant(monday - 7 * day_ms), until: instant(monday) };
}

async function summarize(deps: MemberNoticesDeps): Promise<void> {
  const { sql, clock } = deps;
  const now = clock.now();
  for (const kind of ['dailySummary', 'weeklySummary'] as const) {
    const { from, until } = periodOf(kind, now);
    const apps = await sql.query<{ appId: string }>(
      `SELECT DISTINCT n.app_id AS "appId" FROM app_notifications n
        WHERE $1 = ANY (n.mail || n.bell)
          AND NOT EXISTS (SELECT FROM ops.notice_summaries s WHERE s.app_id = n.app_id AND s.kind = $1 AND s.from_ = $2)
        LIMIT $3`,
      [kind, from, summariesMax],
    );
    for (const { appId } of apps) await summarizeApp(deps, appId, kind, { from, until });
  }
  await sql.query('DELETE FROM ops.notice_summaries WHERE at <= $1', [plus(now, -summariesFor_ms)]);
}

async function summarizeApp(
  deps: MemberNoticesDeps,
  appId: string,
  kind: SummaryKind,
  period: { readonly from: Instant; readonly until: Instant },
): Promise<void> {
  const { sql, clock } = deps;
  const now = clock.now();
  const line = await summaryLine(sql, appId, kind, period);
  const notice = { app_id: appId, kind, microUsd: null, event_id: '', position: 0n, at: now };
  const due = collectedBy(await readableState(deps, appId), appId, [notice]).map((each) => ({ ...each, line }));
  await sql.transaction(async (tx) => {
    const [added] = await tx.query(
      `INSERT INTO ops.notice_summaries (app_id, kind, from_, line, at) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT DO NOTHING RETURNING 1`,
      [appId, kind, period.from, line, now],
    );
    if (added) await add(tx, due, now);
  });
}

async function summaryLine(
  sql: Sql,
  appId: string,
  kind: SummaryKind,
  { from, until }: { readonly from: Instant; readonly until: Instant },
): Promise<string> {
  const [sums] = await sql.query<{ volume: string | null; count: string | null; refunded: string | null }>(
    `SELECT sum(volume) AS volume, sum(count) AS count, sum(refunded) AS refunded FROM hourly_stats
      WHERE app_id = $1 AND hour >= $2 AND hour < $3`,
    [appId, from, until],
  );
  const [held] = await sql.query<{ count: bigint }>(
    'SELECT count(*) AS count FROM (SELECT FROM payments WHERE app_id = $1 AND held IS NOT NULL LIMIT 1000) AS found',
    [appId],
  );
  const when = kind === 'dailySummary' ? `On ${from.slice(0, 10)}` : `In the week from ${from.slice(0, 10)}`;
  const count = Number(sums?.count ?? 0);
  const waiting = Number(held?.count ?? 0);
  return [
    `${when} (UTC): ${count} ${count === 1 ? 'payment' : 'payments'} paid out,`,
    `${decimalText(sums?.volume ?? '0')} dollars received, ${decimalText(sums?.refunded ?? '0')} refunded.`,
    `Now ${waiting === 1 ? '1 payment holds' : `${waiting} payments hold`} money that can be refunded.`,
  ].join(' ');
}

interface Pending extends CollectedNotice {
  readonly since: Instant;
}

const isDue = `(kind <> 'webhookFailing' OR count >= ${failingMin})`;

async function mail(deps: MemberNoticesDeps): Promise<void> {
  const { sql, clock } = deps;
  const now = clock.now();
  await sql.query(`DELETE FROM ops.notice_mails WHERE NOT ${isDue} AND since <= $1`, [plus(now, -failuresFor_ms)]);
  const people = await sql.query<{ developerId: string }>(
    `SELECT m.developer_id AS "developerId" FROM ops.notice_mails m LEFT JOIN ops.notice_mailboxes b USING (developer_id)
      WHERE ${isDue} AND (b.mailed_at IS NULL OR (b.mailed_at <= $2 AND (b.day < $3::date OR b.mails < $4)))
      GROUP BY m.developer_id HAVING min(since) <= $1 ORDER BY min(since) LIMIT $5`,
    [plus(now, -collectFor_ms), plus(now, -mailEvery_ms), now.slice(0, 10), mailsPerDay, peopleMax],
  );
  for (const { developerId } of people) await mailPerson(deps, developerId);
}

/** Checks team and choice again: they may have changed since the notices were collected. */
async function mailPerson(deps: MemberNoticesDeps, developerId: string): Promise<void> {
  const { sql, clock, outbox, dashboard } = deps;
  const now = clock.now();
  const person = await findPerson(sql, developerId);
  const pending = await sql.query<Pending>(
    `SELECT app_id AS "appId", kind, count, line, since FROM ops.notice_mails
      WHERE developer_id = $1 AND ${isDue} ORDER BY app_id, kind`,
    [developerId],
  );
  const wanted: Pending[] = [];
  for (const [appId, ofApp] of Map.groupBy(pending, (each) => each.appId)) {
    const state = await readableState(deps, appId);
    const choice = state && choiceOf(state, developerId);
    if (choice) wanted.push(...ofApp.filter(({ kind }) => choice.mail.includes(kind)));
  }
  await sql.transaction(async (tx) => {
    for (const { appId, kind } of pending)
      await tx.query('DELETE FROM ops.notice_mails WHERE developer_id = $1 AND app_id = $2 AND kind = $3', [
        developerId,
        appId,
        kind,
      ]);
    if (!person || wanted.length === 0) return;
    const appIds = [...new Set(wanted.map(({ appId }) => appId))];
    await outbox.put(tx, { ...noticesEmail(wanted, dashboard), to: person, appIds, life_ms: mailLife_ms });
    await tx.query(
      `INSERT INTO ops.notice_mailboxes AS b (developer_id, mailed_at, day, mails) VALUES ($1, $2, $3::date, 1)
       ON CONFLICT (developer_id) DO UPDATE SET mailed_at = excluded.mailed_at, day = excluded.day,
         mails = CASE WHEN b.day = excluded.day THEN b.mails + 1 ELSE 1 END`,
      [developerId, now, now.slice(0, 10)],
    );
  });
}
