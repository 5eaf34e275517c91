/** The feed: everything that happened to an app's payments, each event once, in the order of the log, from any point in history. */
import type { BounceCode } from '../domain/payment/events.ts';
import type { PaymentStatus } from '../domain/payment/view.ts';
import type { Instant } from '../domain/time.ts';
import type { Sql } from '../projections/sql.ts';

/** One event of one of the app's payments. */
export interface AppEvent {
  /** Its place among the app's events: 1, 2, 3, … without a gap, the same after every rebuild. Saved, it is where to read on. */
  readonly ordinal: string;
  readonly eventId: string;
  /** As the log names it (docs/reference/events.md), also types that this version does not know. */
  readonly type: string;
  readonly paymentId: string;
  readonly orderId: string | null;
  /** The event's place in its payment's stream, from 0 on. */
  readonly revision: number;
  /** Of the payment after this event. */
  readonly status: PaymentStatus;
  /** Before it; null for the payment's first event. */
  readonly previousStatus: PaymentStatus | null;
  readonly errorCode: BounceCode | null;
  readonly at: Instant;
}

/** @param after an ordinal; `0` begins with the app's first event @returns the next ones, in order @throws Unavailable */
export async function listEvents(
  sql: Sql,
  appId: string,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<readonly AppEvent[]> {
  const rows = await sql.query<Omit<AppEvent, 'ordinal' | 'revision'> & { ordinal: bigint; revision: bigint }>(
    `SELECT ordinal, event_id AS "eventId", type, payment_id AS "paymentId", order_id AS "orderId", revision, status,
            previous_status AS "previousStatus", error_code AS "errorCode", at
       FROM app_events WHERE app_id = $1 AND ordinal > $2 ORDER BY ordinal LIMIT $3`,
    [appId, after, limit],
  );
  return rows.map((row) => ({ ...row, ordinal: String(row.ordinal), revision: Number(row.revision) }));
}

/** Of the app's newest event; `0` while it has none. @throws Unavailable */
export async function lastOrdinal(sql: Sql, appId: string): Promise<string> {
  const [last] = await sql.query<{ ordinal: bigint }>(
    'SELECT ordinal FROM app_events WHERE app_id = $1 ORDER BY ordinal DESC LIMIT 1',
    [appId],
  );
  return String(last?.ordinal ?? 0n);
}
