/** The feed: all events of an app's payments, each once, in log order, from any point of history. */
import type { BounceCode } from '../domain/payment/events.ts';
import type { PaymentStatus } from '../domain/payment/view.ts';
import type { Instant } from '../domain/time.ts';
import type { Sql } from '../projections/sql.ts';

/** One event of one of the app's payments. */
export interface AppEvent {
  /**
   * Sequence number among the app's events: 1, 2, 3, … without a gap, equal after every rebuild. A client stores it to continue from there.
   */
  readonly ordinal: string;
  readonly eventId: string;
  /** Event type of the log (docs/reference/events.md), including types that this version does not know. */
  readonly type: string;
  readonly paymentId: string;
  readonly orderId: string | null;
  /** Revision of the event in its payment's stream, from 0. */
  readonly revision: number;
  /** Payment's status after this event. */
  readonly status: PaymentStatus;
  /** Payment's status before it; null for the payment's first event. */
  readonly previousStatus: PaymentStatus | null;
  readonly errorCode: BounceCode | null;
  readonly at: Instant;
}

/** @param after an ordinal; `0` begins with the app's first event @returns the next events in order @throws Unavailable */
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

/** Ordinal of the app's newest event; `0` while it has none. @throws Unavailable */
export async function lastOrdinal(sql: Sql, appId: string): Promise<string> {
  const [last] = await sql.query<{ ordinal: bigint }>(
    'SELECT ordinal FROM app_events WHERE app_id = $1 ORDER BY ordinal DESC LIMIT 1',
    [appId],
  );
  return String(last?.ordinal ?? 0n);
}
