/** A query about one day reads the rows of that day, and its cost does not grow with the number of payments. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { openActive } from '../../projections/generations.ts';
import { reportsSet, workSet } from '../../projections/sets.ts';
import { makeAnalytics } from '../../src/postgres/analytics.ts';
import type { Database } from '../../src/postgres/database.ts';
import { ddlOf } from '../../src/postgres/migrate.ts';
import { freshDatabase } from '../support/postgres.ts';

const day = 'day = current_date - 1';
const since = (time: string) => `${time} > now() - interval '1 day'`;

/** Without `treasury_balances`: a balance is the sum of all movements before it. */
const questions = {
  payments: since('created_at'),
  transfers: since('at'),
  webhooks: since('started_at'),
  treasury_movements: since('at'),
  daily: day,
  conversion: day,
  durations: day,
  profit: day,
  costs: day,
  // Few payments hold money.
  held_money: 'true',
};

/** Tables with rows for each payment, and how their rows differ from the values that each column's type gets. */
const large: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  payments: {
    app_id: "'app'",
    status: "'payment_payout_completed'",
    payout_tx_hash: "'0x' || n",
    payout_confirmed_at: 'at',
    payin_seen_at: 'at',
    excess: '0',
  },
  payins: { standing: "'counted'", phase: "'confirmed'" },
  app_events: { app_id: "'app'", type: "(ARRAY['PayinDetected', 'PaymentFunded'])[1 + n % 2]" },
  transactions: { kind: "'payout'", status: "'settled'", tx_hash: "'0x' || n" },
  treasury_movements: { account: "'treasury'", kind: "'payout'", tx_hash: "'0x' || n", asset: "'coin'", part: "'fee'" },
  deliveries: { app_id: "'app'" },
};
const hourly = ['hourly_payments', 'hourly_stats'];

const valueOfType: Readonly<Record<string, string>> = {
  text: "'t' || n",
  json: "'[]'::json",
  boolean: 'false',
  'timestamp with time zone': 'at',
};

/** Indexes of the few rows whose money is held. */
const ofHeldMoney = /^(payments_failed|payments_exceeding|payins_uncounted)$/;

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly Plan[];
}

const nodesOf = (plan: Plan): readonly Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** An index without a condition is read as a whole, too. */
const isWhole = (node: Plan): boolean =>
  (node['Relation Name'] ?? '') in large &&
  (node['Node Type'] === 'Seq Scan' ||
    (node['Node Type'].startsWith('Index') &&
      node['Index Cond'] === undefined &&
      !ofHeldMoney.test(node['Index Name'] ?? '')));

describe('a question of an analyst about a day', () => {
  let database: Database;

  before(async () => {
    database = await freshDatabase();
    for (const set of [workSet, reportsSet]) await openActive(database, set, await ddlOf(set.name));
    await makeAnalytics(database, new Map([[1, 3_000_000_000n] as const]));
    for (const [table, columns] of Object.entries(large)) await insertRows(table, columns);
    for (const table of hourly) await insertRows(table, { app_id: "'app'", hour: 'at - make_interval(days => n)' });
    await database.query('ANALYZE');
  });

  /** Fills a table with 5,000 rows of 50 days. Plans depend on statistics. */
  async function insertRows(table: string, columns: Readonly<Record<string, string>>): Promise<void> {
    const required = await database.query<{ name: string; type: string; schema: string }>(
      `SELECT column_name AS name, data_type AS type, table_schema AS schema FROM information_schema.columns
        WHERE table_name = $1 AND table_schema ~ '^(work|reports)_[0-9]+$' AND is_nullable = 'NO'`,
      [table],
    );
    const all = {
      ...Object.fromEntries(required.map(({ name, type }) => [name, valueOfType[type] ?? 'n'])),
      ...columns,
    };
    await database.query(
      `INSERT INTO ${required[0]?.schema}.${table} (${Object.keys(all).join(', ')}) SELECT ${Object.values(all).join(', ')}
         FROM (SELECT n, now() - make_interval(mins => 14 * n) AS at FROM generate_series(1, 5000) n) AS rows`,
    );
  }

  for (const [view, where] of Object.entries(questions))
    it(`reads no table as a whole for ${view}`, async () => {
      const nodes = await database.transaction(async (tx) => {
        // Postgres may read tables of this size as a whole, unless it avoids that wherever an index serves.
        await tx.query('SET LOCAL enable_seqscan = off');
        const [row] = await tx.query<{ 'QUERY PLAN': readonly { readonly Plan: Plan }[] }>(
          `EXPLAIN (FORMAT JSON) SELECT * FROM analytics.${view} WHERE ${where}`,
        );
        return (row?.['QUERY PLAN'] ?? []).flatMap(({ Plan }) => nodesOf(Plan));
      });
      assert.ok(nodes.some((node) => (node['Relation Name'] ?? '') in large));
      assert.deepEqual(nodes.filter(isWhole), []);
    });

  it('has its indexes also on rows that an earlier version has filled', async () => {
    const file = new URL('../../projections/migrations/0020_days_of_analysts.sql', import.meta.url);
    const migration = await readFile(file, 'utf8');
    const names = [...migration.matchAll(/INDEX IF NOT EXISTS (\w+)/g)].map(([, name]) => name);
    assert.equal(names.length, 8);
    const indexes = () =>
      database.query<{ schema: string; name: string; definition: string }>(
        `SELECT schemaname AS schema, indexname AS name, indexdef AS definition FROM pg_indexes WHERE indexname = ANY ($1) ORDER BY 2`,
        [names],
      );
    const before = await indexes();
    assert.equal(before.length, names.length);
    for (const { schema, name } of before) await database.query(`DROP INDEX ${schema}.${name}`);
    for (let start = 0; start < 2; start += 1) await database.query(migration);
    assert.deepEqual(await indexes(), before);
  });
});
