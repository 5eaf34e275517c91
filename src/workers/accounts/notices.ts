/** Notifies owners by mail of changes of their apps: each event once, from the log, so a crashed process forgets none. */
import type { Codec } from '../../../commands/codec.ts';
import type { Clock, EventStore } from '../../../commands/ports.ts';
import { instanceOf, type LogPlace, placeOf, type StoredEvent } from '../../../domain/decider.ts';
import type { MerchantEvent } from '../../../domain/merchant/events.ts';
import { epochMs, hour_ms, type Instant } from '../../../domain/time.ts';
import type { Sql, SqlDatabase } from '../../../projections/sql.ts';
import { memberMailOf, noticeOf } from '../../accounts/notices.ts';
import { mailsWorkerName, type NewMail, type Outbox } from '../../accounts/outbox.ts';
import { findPerson } from '../../accounts/people.ts';
import type { SendMail } from '../../accounts/smtp.ts';
import type { Worker } from '../engine.ts';

export interface NoticesDeps {
  readonly store: Pick<EventStore, 'all' | 'tail' | 'eventAt' | 'read'>;
  readonly codec: Pick<Codec, 'read'>;
  readonly sql: SqlDatabase;
  readonly outbox: Pick<Outbox, 'put'>;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  /** Owner of the app, as the log has it now. */
  readonly ownerOf: (appId: string) => Promise<string | null>;
  readonly dashboard: string | null;
  /** Counts against a limit per kind: an intruder in a session must not bury one notice under a thousand others. */
  readonly count: (kind: string) => Promise<{ readonly allowed: boolean; readonly remaining: number } | null>;
  /** Counts against the limit of mails to one person about teams. */
  readonly countInvited: (developerId: string) => Promise<{ readonly allowed: boolean } | null>;
  /** Throws if the log is not the one that was followed so far. */
  readonly recognizeLog: (signal: AbortSignal) => Promise<void>;
  readonly failed: (error: unknown) => void;
}

const name = 'notices';
const prefixes = ['merchant-'];
const pause_ms = 5_000;
/** Minimum interval for storing a position without notices. */
const passedEvery_ms = 1_000;
/** A notice is not sent any more after this age. */
const life_ms = 72 * hour_ms;

const lastOne =
  'This has happened often today: you will get no more mail of this kind for a day. The audit trail has it all.';

/** Until the signal aborts. On one instance at a time: the caller holds a lease. */
export async function followForNotices(deps: NoticesDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await followOnce(deps, signal).catch(deps.failed);
    await deps.clock.sleep(pause_ms, signal);
  }
}

async function followOnce(deps: NoticesDeps, signal: AbortSignal): Promise<void> {
  const { sql, store, clock, recognizeLog } = deps;
  await recognizeLog(signal);
  const after = await position(deps);
  let stored_ms = Number.NEGATIVE_INFINITY;
  let passed: bigint | null = null;
  const storePassed = async (): Promise<void> => {
    const there = passed === null ? null : await store.eventAt(passed);
    passed = null;
    if (there) await pass(sql, there);
  };
  for await (const { events, position: upTo } of store.all({ after, prefixes, signal })) {
    for (const event of events) await tell(deps, event);
    const last = events.at(-1);
    if (last) await save(sql, placeOf(last));
    passed = upTo > (last?.position ?? 0n) ? upTo : null;
    const now_ms = epochMs(clock.now());
    if (now_ms - stored_ms < passedEvery_ms) continue;
    stored_ms = now_ms;
    await storePassed();
  }
  await storePassed();
}

/** The first start begins at the log's end: earlier changes cause no notices. */
async function position({ sql, store }: NoticesDeps): Promise<bigint> {
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

/** Stores the position of a handled event. */
const save = (sql: Sql, { position, eventId }: LogPlace): Promise<unknown> =>
  sql.query(
    `UPDATE ops.followers SET position = $2, event_id = $3, applied_position = $2, applied_id = $3
      WHERE name = $1 AND position < $2`,
    [name, position, eventId],
  );

/** Stores the position of a skipped event. */
const pass = (sql: Sql, { position, eventId }: LogPlace): Promise<unknown> =>
  sql.query('UPDATE ops.followers SET position = $2, event_id = $3 WHERE name = $1 AND position < $2', [
    name,
    position,
    eventId,
  ]);

/** Stores the mails and the log position in one transaction: after a crash each is sent once. */
async function tell(deps: NoticesDeps, stored: StoredEvent): Promise<void> {
  const { codec, sql, outbox } = deps;
  const event = codec.read(stored) as MerchantEvent | undefined;
  if (!event) return;
  const mails = [await mailToOwner(deps, event, stored), await mailToMember(deps, event, stored)];
  const due = mails.filter((mail) => mail !== null);
  if (due.length === 0) return;
  await sql.transaction(async (tx) => {
    for (const mail of due) await outbox.put(tx, mail);
    await save(tx, placeOf(stored));
  });
}

type Due = Promise<NewMail | null>;

async function mailToOwner(deps: NoticesDeps, event: MerchantEvent, stored: StoredEvent): Due {
  const { sql, ownerOf, dashboard, count } = deps;
  const appId = instanceOf(stored.stream);
  const notice = noticeOf(event, appId, dashboard);
  if (!notice || (await beganWith(deps, stored))) return null;
  const developerId = await ownerOf(appId);
  const person = developerId === null ? null : await findPerson(sql, developerId);
  if (!person) return null;
  const counted = await count(`${appId}:${stored.type}`);
  if (counted && !counted.allowed) return null;
  const text = counted?.remaining === 0 ? `${notice.text}\n${lastOne}\n` : notice.text;
  return { ...notice, text, mailId: stored.id, to: person, life_ms };
}

/** To the person whom a change of the team concerns: bounded per person, because owners choose the address. */
async function mailToMember(
  { sql, dashboard, countInvited }: NoticesDeps,
  event: MerchantEvent,
  { id, stream }: StoredEvent,
): Due {
  const letter = memberMailOf(event, instanceOf(stream), dashboard);
  const person = letter && (await findPerson(sql, letter.to));
  if (!person) return null;
  const counted = await countInvited(person.developerId);
  if (counted && !counted.allowed) return null;
  const { subject, text } = letter;
  return { subject, text, mailId: `${id}-member`, to: person, life_ms };
}

/** Excludes the settings at registration, which the owner has just requested. The events of one append have one time. */
async function beganWith({ store }: NoticesDeps, { stream, metadata }: StoredEvent): Promise<boolean> {
  const [first] = await store.read(stream, { from: 0n, max: 1 });
  const began: Instant | undefined = first?.metadata.at;
  return began === metadata.at;
}

const concurrency = 3;

/** Sends the mail of the outbox. After a crash between sending and deleting, a mail is sent twice. */
export const mailsWorker = (outbox: Pick<Outbox, 'due' | 'open' | 'remove'>, send: SendMail): Worker<string> => ({
  name: mailsWorkerName,
  concurrency,
  due: (max, now) => outbox.due(max, now),
  keyOf: (mailId) => mailId,
  async act(mailId) {
    const mail = await outbox.open(mailId);
    // A mailbox that does not exist is its owner's mistake, which nobody can fix here.
    if (mail) await send(mail);
    await outbox.remove(mailId);
  },
});
