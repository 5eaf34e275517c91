/**
 * What create is measured against: the least that an Express service with Postgres can do for the same request. The key is
 * checked by its hash through the same cache, the body by the same schema, and one row per payment is inserted durably
 * under a unique index of app and order.
 */
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import express from 'express';
import pg from 'pg';
import { findApiKey } from '../queries/apps.ts';
import { createAccess } from '../src/http/access.ts';
import { compileBody } from '../src/http/input.ts';
import { CreatePaymentRequest } from '../src/http/schemas/requests.ts';
import { systemClock } from '../src/runtime/system.ts';

const connectionsMax = 20;
const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'] ?? '', max: connectionsMax });
await pool.query(`CREATE TABLE IF NOT EXISTS plain_payments (
  id uuid PRIMARY KEY, app_id text NOT NULL, order_id text NOT NULL, status text NOT NULL, body jsonb NOT NULL,
  created_at timestamptz NOT NULL, UNIQUE (app_id, order_id))`);
const sql = {
  query: async <R>(text: string, values: readonly unknown[] = []) => (await pool.query(text, [...values])).rows as R[],
};
const access = createAccess({
  findApiKey: (hash) => findApiKey(sql, hash),
  isRevoked: () => false,
  keyUsed: () => {},
  findApp: async () => null,
  findSession: async () => null,
  appsOf: async () => [],
  clock: systemClock,
});
const check = compileBody(CreatePaymentRequest);
const insert =
  'INSERT INTO plain_payments (id, app_id, order_id, status, body, created_at) VALUES ($1, $2, $3, $4, $5, $6)';

const app = express();
app.disable('x-powered-by');
app.disable('etag');
app.use(express.json({ limit: 64_000 }));
app.post('/payment-api/payments', async (request, response) => {
  const caller = await access.authenticate(request, 'orders');
  check(request.body);
  const payment = {
    id: randomUUID(),
    appId: caller?.appId,
    orderId: request.body.orderId,
    status: 'payment_unpaid',
    ...request.body,
    createdAt: systemClock.now(),
  };
  const values = [payment.id, payment.appId, payment.orderId, payment.status, request.body, payment.createdAt];
  await pool.query({ name: 'insert', text: insert, values });
  response.status(201).json(payment);
});

const server = app.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ msg: 'ready', url: `http://127.0.0.1:${port}` })}\n`);
});
process.once('SIGTERM', () => process.exit(0));
