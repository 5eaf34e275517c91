import { type Refusal, refuse } from '../domain/decider.ts';
import type { PaymentView } from '../domain/payment/view.ts';
import { parseInstant } from '../domain/time.ts';
import { type PaymentRow, viewOfRow } from '../projections/payments.ts';
import type { Sql } from '../projections/sql.ts';
import { asStored, build, run } from './sql.ts';

export interface PaymentFilter {
  readonly appId: string;
  /** Rows of a page, from 1 on. */
  readonly limit: number;
  /** `nextCursor` of the page before. */
  readonly cursor?: string;
  readonly status?: string;
  readonly orderId?: string;
  /** ISO 8601; not included. */
  readonly createdAfter?: string;
  readonly createdBefore?: string;
  readonly updatedAfter?: string;
}

export interface PaymentPage {
  readonly payments: readonly PaymentView[];
  /** Null when there is no further page. */
  readonly nextCursor: string | null;
}

/**
 * An app's payments, newest first. Pages are cut at a row, not at a number of rows, so payments that come meanwhile neither
 * repeat nor hide others. A refusal when the cursor is none of ours. @throws Unavailable
 */
export async function listPayments(sql: Sql, filter: PaymentFilter): Promise<PaymentPage | Refusal> {
  const { appId, limit, cursor, status, orderId, createdAfter, createdBefore, updatedAfter } = filter;
  const query = build('payments').where('app_id', appId);
  if (status !== undefined) query.where('status', status);
  if (orderId !== undefined) query.where('order_id', asStored(orderId));
  if (createdAfter !== undefined) query.where('created_at', '>', createdAfter);
  if (createdBefore !== undefined) query.where('created_at', '<', createdBefore);
  if (updatedAfter !== undefined) query.where('updated_at', '>', updatedAfter);
  if (cursor !== undefined) {
    const after = readCursor(cursor);
    if (!after)
      return refuse('invalidRequest', 'this cursor is none that a list answered: begin without one', '/cursor');
    query.whereRaw('(created_at, payment_id) < (?, ?)', [...after]);
  }
  query.orderBy([
    { column: 'created_at', order: 'desc' },
    { column: 'payment_id', order: 'desc' },
  ]);
  // One more than asked for tells whether there is a further page.
  const found = await run<PaymentRow>(sql, query.limit(limit + 1));
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return {
    payments: page.map(viewOfRow),
    nextCursor: last && found.length > limit ? writeCursor(last) : null,
  };
}

const writeCursor = ({ created_at, payment_id }: PaymentRow): string =>
  Buffer.from(`${created_at} ${payment_id}`).toString('base64url');

function readCursor(cursor: string): readonly [createdAt: string, paymentId: string] | undefined {
  const [, at = '', paymentId] = /^(\S{24}) ([0-9a-f-]{36})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  const createdAt = parseInstant(at);
  return createdAt !== undefined && paymentId !== undefined ? [createdAt, paymentId] : undefined;
}
