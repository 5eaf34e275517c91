/** A minimal service that only creates payments, around any store: the baseline of the product's measurements. */
import type { AddressInfo } from 'node:net';
import express, { type Request } from 'express';
import pg from 'pg';
import { findApiKey } from '../../queries/apps.ts';
import { createAccess } from '../../src/api/auth.ts';
import { compileBody } from '../../src/api/input.ts';
import { CreatePaymentRequest } from '../../src/api/schemas/requests.ts';
import { systemClock } from '../../src/process/system.ts';

export interface Asked {
  readonly appId: string;
  readonly body: CreatePaymentRequest;
  readonly at: string;
}

/** Listens on a free port of the loopback interface, prints its URL, and runs until SIGTERM. @param create stores a request and returns the answer's body */
export function serveCreate(create: (asked: Asked) => Promise<object>): void {
  const askedBy = createDoor(process.env['DATABASE_URL'] ?? '');
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(express.json({ limit: 64_000 }));
  app.post('/payment-api/payments', async (request, response) => {
    response.status(201).json(await create(await askedBy(request)));
  });
  const server = app.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo;
    process.stdout.write(`${JSON.stringify({ msg: 'ready', url: `http://127.0.0.1:${port}` })}\n`);
  });
  process.once('SIGTERM', () => process.exit(0));
}

/** Checks the key by its hash, through the product's own cache, and the body by its schema. */
function createDoor(databaseUrl: string): (request: Request) => Promise<Asked> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 2 });
  const sql = {
    query: async <R>(text: string, values: readonly unknown[] = []) =>
      (await pool.query(text, [...values])).rows as R[],
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
  return async (request) => {
    const { appId } = await access.authenticate(request, 'orders');
    check(request.body);
    return { appId, body: request.body, at: systemClock.now() };
  };
}
