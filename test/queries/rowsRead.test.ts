import assert from 'node:assert/strict';
import { isRefusal } from '../../domain/decider.ts';
import { type Instant, instant } from '../../domain/time.ts';
import { inSchema } from '../../projections/generations.ts';
import { projectionSets } from '../../projections/sets.ts';
import type { Sql } from '../../projections/sql.ts';
import { accountingLines } from '../../queries/accounting.ts';
import { type DeliveryFilter, listDeliveries } from '../../queries/deliveries.ts';
import { lastOrdinal, listEvents } from '../../queries/feed.ts';
import { type FindFilter, findPayments, foundMax, paymentsInNeed, windowMax } from '../../queries/findPayments.ts';
import { linkWindow, paymentsOfLink } from '../../queries/links.ts';
import { askForApp, monthNamed } from '../../queries/monthlyReport.ts';
import { listPayments, type PaymentFilter } from '../../queries/payments.ts';
import { paymentsCsv } from '../../queries/paymentsCsv.ts';
import { getOverview, getStats } from '../../queries/reports.ts';
import { dueTransfers } from '../../queries/transfers.ts';
import type { Database } from '../../src/postgres/database.ts';
import { ddlOf } from '../../src/postgres/migrate.ts';
import { deliveryOutcome, deliveryStart } from '../support/deliveries.ts';
import { append, createWorld, paymentIdOf } from '../support/histories.ts';
import * as p from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';
import { fill, wholeLog } from '../support/readModels.ts';
import { isFull } from '../support/suite.ts';

interface Plan {
  readonly 'Node Type': string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly 'Relation Name'?: string;
  readonly Plans?: readonly Plan[];
}

/** Rows that table scans read, including discarded ones. */
const looked = (plan: Plan): number =>
  (plan['Relation Name'] === undefined
    ? 0
    : (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Index Recheck'] ?? 0)) *
      plan['Actual Loops']) + (plan.Plans ?? []).reduce((sum, inner) => sum + looked(inner), 0);

const tablesOf = (plan: Plan): readonly string[] => [
  ...(plan['Relation Name'] === undefined ? [] : [plan['Relation Name']]),
  ...(plan.Plans ?? []).flatMap(tablesOf),
];

/** Distinct durations of a day. */
const durations = 20;
const [few, many] = [300, isFull ? 30_000 : 9_000];
const apps = { small: few, large: many };
const now: Instant = instant(Date.UTC(2026, 10, 21, 18, 30));

/** Measures work instead of time: time depends on the machine, and the work must not depend on the app's size. */
describe('an app with very many payments', () => {
  let database: Database;
  before(async () => {
    database = await freshDatabase();
    const world = createWorld();
    await append(world, `payment-${paymentIdOf(1)}`, p.done);
    const sent = deliveryStart({ appId: 'wallet_demo' });
    await append(world, `webhook-${sent.deliveryId}`, [
      { type: 'WebhookSendStarted', data: sent },
      { type: 'WebhookDelivered', data: deliveryOutcome(200) },
    ]);
    const schemas: string[] = [];
    for (const set of projectionSets) {
      const generation = await fill(database, world.store, set, [await wholeLog(world.store)]);
      schemas.push(generation.schema);
      await database.transaction(async (tx) => {
        await inSchema(tx, generation);
        await tx.query((await ddlOf(set.name)).indexes);
      });
    }
    const [work = '', reports = ''] = schemas;
    for (const [appId, payments] of Object.entries(apps)) await copies(work, reports, appId, payments);
    await others(reports);
    await database.query('ANALYZE');
  });

  /** Copies the one payment, spread over the last sixty days. */
  async function copies(work: string, reports: string, appId: string, payments: number): Promise<void> {
    const copy = (table: string, others: string) =>
      database.query(
        `INSERT INTO ${table} SELECT copy.*
           FROM ${table} AS one, generate_series(1, $2::int) AS n,
                LATERAL (SELECT $1::text || '-' || n AS id, $3::timestamptz - n * interval '60 days' / $2::int AS at) AS its,
                LATERAL jsonb_populate_record(one, jsonb_build_object('app_id', $1::text) || ${others}) AS copy
          WHERE ${template(table)}`,
        [appId, payments, now],
      );
    const times = `jsonb_build_object('created_at', at, 'updated_at', at, 'payout_confirmed_at', at)`;
    await copy(
      `${work}.payments`,
      `${times} || jsonb_build_object('payment_id', id, 'order_id', id, 'payin_tx_hash', id) ||
       CASE WHEN n % 50 = 0 THEN '{"status": "payment_bounced", "held": [{"chainId": 8453, "tokenSymbol": "USDT", "amount": "2.00"}]}' ELSE '{}' END::jsonb`,
    );
    await database.query(
      `INSERT INTO ${reports}.payment_words (app_id, word, payment_id)
       SELECT $1::text, word, $1::text || '-' || n
         FROM generate_series(1, $2::int) AS n, unnest(ARRAY['coffee beans', '$10.01', '#wholesale', $1::text || '-' || n]) AS word`,
      [appId, payments],
    );
    await database.query(
      `INSERT INTO ${work}.transfers (reference, kind, chain_id, token_address, amount, app_id, step, due_at, signed)
       SELECT $1::text || '-' || n, 'payout', 1, 'token', 1, $1, 'sign', $3::timestamptz - n * interval '1 minute', false
         FROM generate_series(1, $2::int) AS n`,
      [appId, payments, now],
    );
    await copy(`${reports}.transactions`, `jsonb_build_object('payment_id', id, 'tx_hash', id)`);
    await copy(
      `${reports}.deliveries`,
      `jsonb_build_object('delivery_id', id, 'payment_id', id, 'started_at', at,
         'status', CASE WHEN n % 100 = 0 THEN 'exhausted' ELSE 'delivered' END)`,
    );
    await copy(`${reports}.app_events`, `jsonb_build_object('ordinal', n, 'payment_id', id)`);
    for (const [table, time, unit] of [
      ['hourly_stats', 'hour', 'hour'],
      ['hourly_payments', 'hour', 'hour'],
      ['daily_durations', 'day', 'day'],
    ] as const) {
      const sums = table === 'daily_durations' ? `, 'seconds', n % ${durations}` : '';
      await database.query(
        `INSERT INTO ${reports}.${table} SELECT copy.*
           FROM ${reports}.${table} AS one,
                (SELECT DISTINCT ON (at, n % ${durations}) n, date_trunc('${unit}', $3::timestamptz - n * interval '60 days' / $2::int) AS at
                   FROM generate_series(1, $2::int) AS n) AS times,
                LATERAL jsonb_populate_record(one, jsonb_build_object('app_id', $1::text, '${time}', at${sums})) AS copy
          WHERE ${template(`${reports}.${table}`)}
         ON CONFLICT DO NOTHING`,
        [appId, payments, now],
      );
    }
  }

  /** Rollups of many apps, so that Postgres does not prefer a scan of a small table to an index. */
  async function others(reports: string): Promise<void> {
    for (const table of ['hourly_stats', 'hourly_payments', 'daily_durations']) {
      await database.query(
        `INSERT INTO ${reports}.${table} SELECT copy.*
           FROM ${reports}.${table} AS one, generate_series(1, 20) AS n,
                LATERAL jsonb_populate_record(one, jsonb_build_object('app_id', 'other-' || n)) AS copy
          WHERE one.app_id = 'large'`,
      );
    }
  }

  const template = (table: string) => `one.ctid = (SELECT min(ctid) FROM ${table} WHERE app_id = 'wallet_demo')`;

  /** Counts the rows that a query's statements read. */
  async function readBy(ask: (sql: Sql) => Promise<unknown>) {
    const found = { rows: 0, tables: new Set<string>() };
    const explaining: Sql = {
      async query<R>(text: string, values?: readonly unknown[]) {
        const [explained] = await database.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
          `EXPLAIN (ANALYZE, TIMING off, FORMAT json) ${text}`,
          values,
        );
        const plan = explained?.['QUERY PLAN'][0].Plan ?? assert.fail('no plan');
        found.rows += looked(plan);
        for (const table of tablesOf(plan)) found.tables.add(table);
        return database.query<R>(text, values);
      },
    };
    await ask(explaining);
    return { rows: found.rows, tables: [...found.tables].sort() };
  }
  /** Runs the same query for both apps; the large one may not exceed a bound that is independent of its size. */
  async function bounded(rowsMax: number, ask: (sql: Sql, appId: string) => Promise<unknown>) {
    const large = await readBy((sql) => ask(sql, 'large'));
    const small = await readBy((sql) => ask(sql, 'small'));
    assert.ok(large.rows <= rowsMax, `${large.rows} rows for the large app, ${small.rows} for the small one`);
    return large.tables;
  }

  it('has its statistics read from the hours of the period', async () => {
    const tables = await bounded(30 * 24, (sql, appId) => getStats(sql, appId, '30d', now));
    assert.deepEqual(tables, ['hourly_stats']);
    assert.equal((await getStats(database, 'large', '30d', now)).chart.length, 30);
  });
  it('has its overview read from hours and days', async () => {
    const tables = await bounded(3 * 30 * 24 + 30 * durations + 24, (sql, appId) =>
      getOverview(sql, appId, '30d', now),
    );
    assert.deepEqual(tables, ['daily_durations', 'hourly_payments', 'hourly_stats']);
  });
  it('has a page of its feed read, from any place', async () => {
    for (const after of ['0', '150', String(many - 50)]) {
      await bounded(101, (sql, appId) => listEvents(sql, appId, { after, limit: 101 }));
    }
    await bounded(1, lastOrdinal);
  });
  it('has a page of its list read, and a payment found by id, order or transaction', async () => {
    const list = (filter: Partial<PaymentFilter>) => (sql: Sql, appId: string) =>
      listPayments(sql, { limit: 20, ...filter, appId });
    await bounded(21, list({}));
    await bounded(21, list({ status: 'payment_payout_completed' }));
    for (const n of [1, 299, many]) await bounded(8, list({ search: `large-${n}` }));
    await bounded(8, list({ search: paymentIdOf(1) }));
  });
  it('has its payments found, counted, sorted and summed up by a bounded part of them', async () => {
    const hours = 60 * 24 + 1;
    const needing = foundMax + 1;
    const find = (filter: Omit<FindFilter, 'appId'>) => (sql: Sql, appId: string) =>
      findPayments(sql, { ...filter, appId }, { limit: 20 });
    const listed = 21 + windowMax + hours + needing;
    await bounded(listed, find({}));
    await bounded(listed, find({ sort: 'oldest' }));
    await bounded(listed + windowMax, find({ sort: 'largest' }));
    await bounded(listed, find({ group: 'needs' }));
    for (const group of ['paid', 'waiting', 'expired'] as const) await bounded(listed, find({ group }));
    // Every payment has these words: only the first of them are read, in the index and in each statement.
    for (const search of ['c', '10.01', '#wholesale']) await bounded(5 * (foundMax + 1), find({ search }));
    await bounded(20, find({ search: `large-${many}` }));
    await bounded(needing, (sql, appId) => paymentsInNeed(sql, appId));
    await bounded(linkWindow, (sql, appId) => paymentsOfLink(sql, appId, 'none', 10));
  });
  it('finds in one app nothing of another', async () => {
    const search = `large-${many}`;
    const of = async (appId: string) => {
      const found = await findPayments(database, { appId, search }, { limit: 20 });
      assert.ok(!isRefusal(found));
      return found.payments.map(({ orderId }) => orderId);
    };
    assert.deepEqual(await of('large'), [search]);
    assert.deepEqual(await of('small'), []);
  });
  it('has a page of its deliveries read, also of those that are exhausted or of one payment', async () => {
    const list = (filter: Partial<DeliveryFilter>) => (sql: Sql, appId: string) =>
      listDeliveries(sql, appId, { limit: 20, ...filter });
    await bounded(21, list({}));
    for (const status of ['delivered', 'exhausted'] as const) await bounded(21, list({ status }));
    for (const n of [1, 299, many]) await bounded(1, list({ paymentId: `large-${n}` }));
  });
  it('has as few of its due payouts read as an app with few: of each the oldest', async () => {
    const due = { worker: 'payouts:1', chainId: 1, max: 16, now } as const;
    const { rows } = await readBy((sql) => dueTransfers(sql, due));
    assert.ok(rows <= 16 * Object.keys(apps).length + 20, `${rows} rows`);
    const named = (await dueTransfers(database, due)).map(({ appId }) => appId);
    assert.deepEqual([...new Set(named)].sort(), ['large', 'small']);
  });
  it('has nothing read for reports of a month in which nothing happened', async () => {
    const month = monthNamed('2020-01') ?? assert.fail();
    await bounded(2, async (sql, appId) => {
      for await (const _ of accountingLines(sql, { appId, ...month }));
    });
    await bounded(60, (sql, appId) => askForApp(sql, { month, appId, prices: {}, now }));
  });
  it('has pages of an export read row by row, each once', async () => {
    const inPeriod = Math.ceil(many / 60) + 1;
    const pages = Math.ceil(inPeriod / 500) + 1;
    await bounded(inPeriod + pages, async (sql, appId) => {
      for await (const _ of paymentsCsv(sql, { appId, period: 'today' }, now));
    });
  });
});
