import type { Sql } from './sql.ts';

export interface Delivery {
  readonly deliveryId: string;
  readonly paymentId: string;
  readonly eventType: string;
  readonly statusCode: number | null;
  readonly responsePreview: string | null;
  readonly deliveredAt: string | null;
  readonly status: 'delivered' | 'exhausted';
  readonly attemptNumber: number;
}

/** An app's attempted webhooks, newest first. @throws Unavailable */
export const listDeliveries = (sql: Sql, appId: string, limit: number): Promise<readonly Delivery[]> =>
  sql.query<Delivery>(
    `SELECT delivery_id AS "deliveryId", payment_id AS "paymentId", event_type AS "eventType", status_code AS "statusCode",
            response_preview AS "responsePreview", delivered_at AS "deliveredAt", status, attempt_number AS "attemptNumber"
       FROM deliveries WHERE app_id = $1
      ORDER BY started_at DESC, delivery_id DESC LIMIT $2`,
    [appId, limit],
  );
