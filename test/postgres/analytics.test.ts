import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import pg from 'pg';
import { analyticsDocument } from '../../docs/generate/analytics.ts';
import { activate, openActive, openBuilding } from '../../projections/generations.ts';
import { workSet } from '../../projections/sets.ts';
import {
  endAnalysts,
  endNotificationFlood,
  makeAnalyst,
  makeAnalytics,
  scramOf,
} from '../../src/postgres/analytics.ts';
import { type Database, openDatabase } from '../../src/postgres/database.ts';
import { ddlOf } from '../../src/postgres/migrate.ts';
import { paymentIdOf } from '../support/histories.ts';
import * as p from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';
import { monthsHistories, payment, reportedMonth } from '../support/reportedMonth.ts';

const password = 'reads-and-nothing-else';
const salt = Buffer.alloc(16, 7);
const prices = new Map([[1, 3_000_000_000n] as const]);

const waiting = payment(6, p.ordered);

describe('schema analytics', () => {
  let database: Database;
  let analyst: Database;
  const as = (user: string, own: string): Database => {
    const url = new URL(database.url);
    url.username = user;
    url.password = own;
    return openDatabase({ url: url.href, applicationName: 'analyst', connectionsMax: 2 });
  };
  before(async () => {
    database = await reportedMonth([waiting]);
    await makeAnalytics(database, prices);
    await makeAnalyst(database, password, salt);
    analyst = as('analyst', password);
  });
  after(() => analyst.close());

  describe('contains facts', () => {
    it('about each payment: the order of its moments, and the duration of each part', async () => {
      const rows = await analyst.query<Record<string, string | null>>(
        `SELECT *, created_at < payin_block_at AND payin_block_at < funded_at AND funded_at < signed_at AND signed_at < paid_out_at AND final_at >= seen_at AS ordered,
                until_paid + (funded_at - payin_block_at) + until_signed + until_paid_out = paid_out_at - created_at
                  AND whole = paid_out_at - payin_block_at AS sums
           FROM analytics.payments ORDER BY payment_id`,
      );
      const byId = new Map(rows.map((row) => [row['payment_id'], row]));
      assert.equal(rows.length, monthsHistories.length + 1);
      for (const n of [1, 2]) {
        const row = byId.get(paymentIdOf(n));
        assert.ok(row?.['ordered'], inspect(row));
        assert.ok(row['sums'], inspect(row));
      }
      const unsigned = byId.get(paymentIdOf(6));
      assert.ok(unsigned?.['funded_at']);
      assert.equal(unsigned['signed_at'], null);
      assert.equal(byId.get(paymentIdOf(3))?.['seen_at'], null);
    });

    it('about a waiting payout: the reason', async () => {
      await database.query(
        `INSERT INTO ops.payout_waits VALUES ($1, 1, 'float', 'no USDC', now(), now()), ($2, 1, 'float', 'was so', now(), now())`,
        [paymentIdOf(6), paymentIdOf(1)],
      );
      const rows = await analyst.query(
        'SELECT payment_id, waits_for FROM analytics.payments WHERE waits_for IS NOT NULL',
      );
      assert.deepEqual(rows, [{ payment_id: paymentIdOf(6), waits_for: 'float' }]);
    });

    it('about a payout that has waited: the reasons and durations, also once it is paid', async () => {
      await database.query(
        `INSERT INTO ops.payout_waited VALUES
           ($1, 'float', 1, now(), now(), '2 min', 2), ($1, 'gas', 1, now(), now(), '3 min', 1)`,
        [paymentIdOf(2)],
      );
      const rows = await analyst.query(
        'SELECT payment_id, waited_for FROM analytics.payments WHERE waited_for IS NOT NULL',
      );
      assert.deepEqual(rows, [{ payment_id: paymentIdOf(2), waited_for: ['gas', 'float'] }]);
      await database.query(`UPDATE ops.payout_waited SET last_at = '2020-01-01' WHERE reason = 'float'`);
      await database.query(
        `UPDATE ops.payout_waited SET last_at = (
           SELECT signed_at - interval '30 s' FROM analytics.payments WHERE payment_id = $1) WHERE reason = 'gas'`,
        [paymentIdOf(2)],
      );
      const waits = await analyst.query(
        'SELECT reason, waited::text, times FROM analytics.payout_waits ORDER BY reason',
      );
      assert.deepEqual(waits, [
        { reason: 'float', waited: '00:02:00', times: 2 },
        { reason: 'gas', waited: '00:03:30', times: 1 },
      ]);
    });

    it('about each route: its fees and costs; and about each day: the progress of payments', async () => {
      const [profit] = await analyst.query(
        'SELECT sum(payments)::int AS payments, sum(fees)::text AS fees, sum(cost)::text AS cost, sum(profit)::text AS profit FROM analytics.profit',
      );
      assert.deepEqual(profit, { payments: 2, fees: '0.02', cost: '0.600000', profit: '-0.580000' });
      const [costs] = await analyst.query('SELECT count(*)::int AS count, sum(usd)::text AS usd FROM analytics.costs');
      assert.deepEqual(costs, { count: 2, usd: '0.600000' });
      const [days] = await analyst.query(
        'SELECT sum(created)::int AS created, sum(paid_out)::int AS paid, sum(abandoned)::int AS gone, sum(bounced)::int AS bounced FROM analytics.conversion',
      );
      assert.deepEqual(days, { created: 6, paid: 2, gone: 1, bounced: 1 });
    });

    it('about a transaction that made several payouts: each has an equal part of its cost', async () => {
      const hashOf = `SELECT payout_tx_hash FROM payments WHERE payment_id = '${paymentIdOf(1)}'`;
      const ofTwo = `payment_id = '${paymentIdOf(2)}'`;
      const profits = () =>
        analyst.query('SELECT sum(payments)::int AS payments, sum(cost)::text AS cost FROM analytics.profit');
      await database
        .transaction(async (tx) => {
          await tx.query(`UPDATE transactions SET tx_hash = (${hashOf}) WHERE kind = 'payout' AND ${ofTwo}`);
          await tx.query(`UPDATE payments SET payout_tx_hash = (${hashOf}), source_chain_id = 137 WHERE ${ofTwo}`);
          const routes = await tx.query<{ cost: string }>('SELECT cost::text FROM analytics.profit');
          assert.deepEqual(new Set(routes.map(({ cost }) => cost)), new Set(['0.150000']));
          assert.equal(routes.length, 2);
          throw new Error('undone');
        })
        .catch((error: Error) => assert.equal(error.message, 'undone'));
      assert.deepEqual(await profits(), [{ payments: 2, cost: '0.600000' }]);
    });

    it('about held money: why and since when; about the treasury: its balance each day', async () => {
      const held = await analyst.query('SELECT reason, amount::text FROM analytics.held_money ORDER BY reason');
      assert.deepEqual(held, [
        { reason: 'amountTooLow', amount: '4.00' },
        { reason: 'unmatched', amount: '7.00' },
      ]);
      const [moved] = await analyst.query<{ whole: boolean }>(
        `SELECT bool_and(balance = sum) AS whole FROM (
           SELECT balance, sum(change) OVER (PARTITION BY chain_id, account, symbol ORDER BY day) AS sum FROM analytics.treasury_balances) AS t`,
      );
      assert.equal(moved?.whole, true);
    });

    it('about each transfer: its payment, in whole tokens and in smallest units', async () => {
      const kinds = await analyst.query(
        `SELECT kind, count(*)::int AS count, bool_and(units = amount * 1000000) AS exact FROM analytics.transfers GROUP BY kind ORDER BY kind`,
      );
      assert.deepEqual(kinds, [
        { kind: 'payin', count: 4, exact: true },
        { kind: 'payout', count: 2, exact: true },
      ]);
      const moved = await analyst.query(
        `SELECT kind, part = 'fee' AS fee, symbol, sum(amount)::float AS amount, sum(units)::text AS units
           FROM analytics.treasury_movements WHERE kind = 'payout' GROUP BY 1, 2, 3 ORDER BY 3`,
      );
      assert.deepEqual(moved, [
        { kind: 'payout', fee: true, symbol: 'ETH', amount: -0.0002, units: '-200000000000000' },
        { kind: 'payout', fee: false, symbol: 'USDC', amount: -20, units: '-20000000' },
      ]);
      const [held] = await analyst.query(
        `SELECT bool_and(balance = amount) AS alike FROM
           (SELECT DISTINCT ON (chain_id, account, symbol) chain_id, account, symbol, balance FROM analytics.treasury_balances
             ORDER BY chain_id, account, symbol, day DESC) AS last
           JOIN (SELECT chain_id, account, symbol, sum(amount) AS amount FROM analytics.treasury_movements GROUP BY 1, 2, 3) AS moved
             USING (chain_id, account, symbol)`,
      );
      assert.deepEqual(held, { alike: true });
    });

    it('about held money: its age, in the classes of the report', async () => {
      const [{ at } = {}] = await database.query<{ at: string }>('SELECT block_time AS at FROM unmatched');
      for (const [age, means] of [
        ['23 hours', 'under a day'],
        ['25 hours', 'under a week'],
        ['8 days', 'under 30 days'],
        ['31 days', 'older'],
      ]) {
        await database.query('UPDATE unmatched SET block_time = now() - $1::interval', [age]);
        const held = await analyst.query(`SELECT age_class FROM analytics.held_money WHERE reason = 'unmatched'`);
        assert.deepEqual(held, [{ age_class: means }]);
      }
      await database.query('UPDATE unmatched SET block_time = $1', [at]);
    });

    it('with a description of every column', async () => {
      const silent = await database.query(
        `SELECT c.relname AS view, a.attname AS column FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
          WHERE c.relnamespace = 'analytics'::regnamespace AND c.relkind = 'v' AND col_description(c.oid, a.attnum) IS NULL`,
      );
      assert.deepEqual(silent, []);
    });

    it('in views that docs/reference/analytics.md describes, each column of them, with queries that work', async () => {
      const committed = readFileSync(new URL('../../docs/reference/analytics.md', import.meta.url), 'utf8');
      assert.equal(committed, `${await analyticsDocument(await freshDatabase())}\n`, 'stale: npm run docs');
      const queries = [...committed.matchAll(/```sql\n(SELECT[\s\S]*?)```/g)].map(([, sql]) => sql as string);
      assert.equal(queries.length, 4);
      for (const sql of queries) await analyst.query(sql);
    });
  });

  describe('is the only schema that an analyst reads', () => {
    const refused = { code: '42501' };
    const raw = async (text: string, before = 'SELECT 1') => {
      const client = new pg.Client({ connectionString: analyst.url });
      await client.connect();
      try {
        await client.query(before);
        return (await client.query(text)).rows;
      } finally {
        await client.end();
      }
    };

    it('so every table and view outside of it is refused, and each in it is readable', async () => {
      const all = await database.query<{ name: string; own: boolean }>(
        `SELECT format('%I.%I', n.nspname, c.relname) AS name, n.nspname = 'analytics' AS own
           FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
          WHERE c.relkind IN ('r', 'v', 'm') AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg_%'`,
      );
      assert.ok(all.filter(({ own }) => own).length >= 11);
      assert.ok(all.filter(({ own }) => !own).length >= 30);
      for (const { name, own } of all) {
        if (own) await raw(`SELECT * FROM ${name} LIMIT 1`);
        else await assert.rejects(raw(`SELECT * FROM ${name} LIMIT 1`), refused, name);
      }
    });

    it('shows no secret: no address of a webhook, no hash of a key, no salt, no metadata', async () => {
      const columns = await database.query<{ name: string }>(
        `SELECT a.attname AS name FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
          WHERE c.relnamespace = 'analytics'::regnamespace AND a.attnum > 0`,
      );
      const names = columns.map(({ name }) => name);
      for (const secret of [
        'url',
        'webhook_url',
        'metadata',
        'hash',
        'id_salt',
        'response_preview',
        'title',
        'description',
      ])
        assert.ok(!names.includes(secret), secret);
    });

    it('and nothing can be written, executed or run for long, also after a reset of the session’s settings', async () => {
      await assert.rejects(raw('CREATE TABLE analytics.mine (a int)'), { code: '25006' });
      const write = 'SET default_transaction_read_only = off';
      for (const statement of [
        'CREATE TABLE analytics.mine (a int)',
        'CREATE TABLE public.mine (a int)',
        'CREATE TEMP TABLE mine (a int)',
        'CREATE SCHEMA mine',
        "UPDATE public.payments SET status = 'payment_completed'",
        'SET ROLE payments',
        "SELECT ops.show_tables('public')",
        'DROP VIEW analytics.payments',
        "SELECT pg_advisory_lock(hashtextextended('payouts', 0))",
        'SELECT pg_try_advisory_xact_lock(1, 2)',
        "SELECT lo_from_bytea(0, 'fills the disk')",
        "SELECT pg_notify('x', repeat('a', 7900))",
        "SELECT pg_logical_emit_message(false, 'x', 'fills the disk')",
      ])
        await assert.rejects(raw(statement, write), { code: /^(42501|42P01)$/ }, statement);
      await assert.rejects(raw('SELECT pg_sleep(5)', "SET statement_timeout = '100ms'"), { code: '57014' });
      const [{ limit } = {}] = await raw(`SELECT current_setting('statement_timeout') AS limit`);
      assert.equal(limit, '1min');
    });

    it('with the password of the configuration, which no statement contains, and which the next start may change', async () => {
      const stored = await database.query(`SELECT rolpassword AS kept FROM pg_authid WHERE rolname = 'analyst'`);
      assert.deepEqual(stored, [{ kept: scramOf(password, salt) }]);
      await makeAnalyst(database, 'another-password-of-it', salt);
      const old = as('analyst', password);
      await assert.rejects(old.query('SELECT 1'));
      await old.close();
      await makeAnalyst(database, password, salt);
    });
  });

  it('until the queue of notifications fills, which ends the session of every analyst and of nobody else', async () => {
    const client = new pg.Client({ connectionString: analyst.url });
    client.on('error', () => {});
    await client.connect();
    const ended = new Promise((resolve) => client.once('end', resolve));
    await client.query('LISTEN x');
    assert.equal(await endNotificationFlood(database), 0);
    assert.ok((await endNotificationFlood(database, -1)) >= 1);
    await ended;
    assert.deepEqual(await database.query('SELECT 1 AS one'), [{ one: 1 }]);
  });

  describe('holds up no start', () => {
    it('though an analyst has reset the limits of their session and keeps a transaction open', async () => {
      const client = new pg.Client({ connectionString: analyst.url });
      client.on('error', () => {});
      await client.connect();
      await client.query('SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0');
      await client.query('BEGIN; SELECT * FROM analytics.payments');
      await makeAnalytics(database, new Map([[1, 3_500_000_000n]]));
      await assert.rejects(client.query('SELECT 1'));
      await makeAnalytics(database, prices);
    });

    it('though another user holds the views: the start continues without them, and reports it', async () => {
      const other = new pg.Client({ connectionString: database.url });
      await other.connect();
      await other.query('BEGIN; LOCK TABLE analytics.payments IN ACCESS SHARE MODE');
      await assert.rejects(makeAnalytics(database, new Map([[1, 3_600_000_000n]])));
      await other.query('ROLLBACK');
      await other.end();
      await makeAnalytics(database, prices);
    });
  });

  describe('remains', () => {
    it('unchanged while nothing has changed: no start waits for a query of an analyst', async () => {
      const client = new pg.Client({ connectionString: analyst.url });
      await client.connect();
      await client.query('BEGIN; SELECT * FROM analytics.payments');
      await makeAnalytics(database, prices);
      await client.query('COMMIT');
      await client.end();
    });

    it('through a rebuild, which ends analysts’ queries rather than wait for them', async () => {
      const client = new pg.Client({ connectionString: analyst.url });
      client.on('error', () => {});
      await client.connect();
      await client.query('BEGIN; SELECT * FROM analytics.payments');
      const building = await openBuilding(database, workSet, await ddlOf('work'));
      await database.transaction(async (tx) => {
        await endAnalysts(tx);
        await activate(tx, building);
      });
      await assert.rejects(client.query('SELECT 1'));
      assert.deepEqual(await analyst.query('SELECT * FROM analytics.payments'), []);
    });

    it('through a version with other views: it is dropped with them and created again, with its prices', async () => {
      const { schema } = await openActive(database, workSet, await ddlOf('work'));
      await database.query(`CREATE SCHEMA other`);
      await database.query(`CREATE TABLE other.payins AS SELECT 1 AS first, t.* FROM ${schema}.payins t`);
      await database.query(`SELECT ops.show_tables('other')`);
      await assert.rejects(analyst.query('SELECT * FROM analytics.held_money'));
      await makeAnalytics(database, null);
      assert.deepEqual(
        await analyst.query('SELECT reason FROM analytics.held_money'),
        [{ reason: 'unmatched' }].slice(1),
      );
      const [coin] = await analyst.query<{ price_usd: string }>(
        `SELECT price_usd::text FROM analytics.assets WHERE chain_id = 1 AND asset = 'coin'`,
      );
      assert.match(String(coin?.price_usd), /^3000\.0*$/);
    });
  });
});
