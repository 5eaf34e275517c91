import type { PaymentView } from '../domain/payment/view.ts';
import { type PaymentRow, viewOfRow } from './paymentRow.ts';
import { asStored, type Sql } from './sql.ts';

/** The payment of an app's order, its own before one that was created without a key; null when the read models know none (yet). @throws Unavailable */
export async function getPaymentByOrder(sql: Sql, appId: string, orderId: string): Promise<PaymentView | null> {
  const [row] = await sql.query<PaymentRow>(
    'SELECT * FROM payments WHERE app_id = $1 AND order_id = $2 ORDER BY keyless LIMIT 1',
    [appId, asStored(orderId)],
  );
  return row ? viewOfRow(row) : null;
}
