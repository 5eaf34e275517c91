import { isRefusal, type Refusal } from '../domain/decider.ts';
import type { PaymentView } from '../domain/payment/view.ts';
import { type PaymentRow, viewOfRow } from '../projections/payments.ts';
import type { Sql } from '../projections/sql.ts';
import { newestFirst } from './pages.ts';
import { asStored, build } from './sql.ts';

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

/** An app's payments, newest first. A refusal when the cursor is none of ours. @throws Unavailable */
export async function listPayments(sql: Sql, filter: PaymentFilter): Promise<PaymentPage | Refusal> {
  const { appId, limit, cursor, status, orderId, createdAfter, createdBefore, updatedAfter } = filter;
  const query = build('payments').where('app_id', appId);
  if (status !== undefined) query.where('status', status);
  if (orderId !== undefined) query.where('order_id', asStored(orderId));
  if (createdAfter !== undefined) query.where('created_at', '>', createdAfter);
  if (createdBefore !== undefined) query.where('created_at', '<', createdBefore);
  if (updatedAfter !== undefined) query.where('updated_at', '>', updatedAfter);
  const page = await newestFirst<PaymentRow>(sql, query, { at: 'created_at', id: 'payment_id' }, { limit, cursor });
  return isRefusal(page) ? page : { payments: page.rows.map(viewOfRow), nextCursor: page.nextCursor };
}
