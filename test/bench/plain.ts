/**
 * The baseline of create: the minimum that an Express service with Postgres can do for the same request. It checks the
 * key by its hash through the same cache, and the body by the same schema. It inserts one row per payment durably under
 * a unique index of app and order.
 */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { serveCreate } from './leastService.ts';

const connectionsMax = 20;
const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'] ?? '', max: connectionsMax });
await pool.query(`CREATE TABLE IF NOT EXISTS plain_payments (
  id uuid PRIMARY KEY, app_id text NOT NULL, order_id text NOT NULL, status text NOT NULL, body jsonb NOT NULL,
  created_at timestamptz NOT NULL, UNIQUE (app_id, order_id))`);
const insert =
  'INSERT INTO plain_payments (id, app_id, order_id, status, body, created_at) VALUES ($1, $2, $3, $4, $5, $6)';

serveCreate(async ({ appId, body, at }) => {
  const payment = { id: randomUUID(), appId, status: 'payment_unpaid', ...body, createdAt: at };
  await pool.query({
    name: 'insert',
    text: insert,
    values: [payment.id, appId, payment.orderId, payment.status, body, at],
  });
  return payment;
});
