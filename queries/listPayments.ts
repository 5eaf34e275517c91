import { isRefusal, type Refusal } from '../domain/decider.ts';
import type { PaymentView } from '../domain/payment/view.ts';
import { type PaymentRow, viewOfRow } from '../projections/payments.ts';
import type { Sql } from '../projections/sql.ts';
import { paymentIdIn } from './getPayment.ts';
import { newestFirst } from './pages.ts';
import { asStored, build } from './sql.ts';

export interface PaymentFilter {
  readonly appId: string;
  /** Rows of a page, from 1 on. */
  readonly limit: number;
  /** `nextCursor` of the previous page. */
  readonly cursor?: string;
  readonly status?: string;
  readonly orderId?: string;
  /** A payment's id, its order's id, or the full hash of one of its transactions in the chain's spelling. */
  readonly search?: string;
  /** ISO 8601; exclusive. */
  readonly createdAfter?: string;
  readonly createdBefore?: string;
  readonly updatedAfter?: string;
}

export interface PaymentPage {
  readonly payments: readonly PaymentView[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/** An app's payments, newest first. Refuses an invalid cursor. @throws Unavailable */
export async function listPayments(sql: Sql, filter: PaymentFilter): Promise<PaymentPage | Refusal> {
  const { appId, limit, cursor, status, orderId, search, createdAfter, createdBefore, updatedAfter } = filter;
  const query = build('payments').where('app_id', appId);
  if (status !== undefined) query.where('status', status);
  if (orderId !== undefined) query.where('order_id', asStored(orderId));
  if (search !== undefined) query.whereRaw(...isFoundBy(appId, search.trim()));
  if (createdAfter !== undefined) query.where('created_at', '>', createdAfter);
  if (createdBefore !== undefined) query.where('created_at', '<', createdBefore);
  if (updatedAfter !== undefined) query.where('updated_at', '>', updatedAfter);
  const page = await newestFirst<PaymentRow>(sql, query, { at: 'created_at', id: 'payment_id' }, { limit, cursor });
  return isRefusal(page) ? page : { payments: page.rows.map(viewOfRow), nextCursor: page.nextCursor };
}

/** Each kind of search has its index. A hash that was only registered is in no transaction. */
function isFoundBy(appId: string, text: string): [sql: string, bindings: string[]] {
  const hash = /^(0x)?[0-9a-f]{64}$/i.test(text) ? text.toLowerCase() : asStored(text);
  return [
    `payment_id IN (
       SELECT payment_id FROM payments WHERE payment_id = ?
       UNION SELECT payment_id FROM payments WHERE app_id = ? AND order_id = ?
       UNION SELECT payment_id FROM payments WHERE app_id = ? AND payin_tx_hash = ? AND payin_confirmed_at IS NULL
       UNION SELECT payment_id FROM transactions WHERE tx_hash = ? AND app_id = ?)`,
    [paymentIdIn(text) ?? '', appId, asStored(text), appId, hash, hash, appId],
  ];
}
