/**
 * The minimum that a peer's stack does for the same request: Express and Emmett over Postgres, one event in a new
 * stream. With EMMETT_PROJECTION=inline it also stores a document of the payment, in the same transaction.
 */
import { randomUUID } from 'node:crypto';
import { projections, STREAM_DOES_NOT_EXIST } from '@event-driven-io/emmett';
import { getPostgreSQLEventStore, pongoSingleStreamProjection } from '@event-driven-io/emmett-postgresql';
import pg from 'pg';
import { serveCreate } from '../leastService.ts';

const connectionsMax = 20;
const url = process.env.EMMETT_URL;
const documents = pongoSingleStreamProjection({
  collectionName: 'payments',
  canHandle: ['PaymentCreated'],
  evolve: (document, { data }) => ({ ...document, ...data, status: 'payment_unpaid' }),
});
const store = getPostgreSQLEventStore(url, {
  connectionOptions: { pool: new pg.Pool({ connectionString: url, max: connectionsMax }) },
  schema: { autoMigration: 'CreateOrUpdate' },
  projections: process.env.EMMETT_PROJECTION === 'inline' ? projections.inline([documents]) : [],
});
const isNew = { expectedStreamVersion: STREAM_DOES_NOT_EXIST };

async function create({ appId, body, at }) {
  const id = randomUUID();
  const data = { id, appId, ...body, createdAt: at };
  await store.appendToStream(`payment-${id}`, [{ type: 'PaymentCreated', data }], isNew);
  return { status: 'payment_unpaid', ...data };
}

// The first append creates the tables: concurrent first appends would conflict.
await create({ appId: 'first', body: {}, at: new Date(0).toISOString() });
serveCreate(create);
