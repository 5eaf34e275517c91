/** The list, its counts and sums, and every search of an app with a hundred thousand and with a million payments. */
import assert from 'node:assert/strict';
import { isRefusal } from '../../domain/decider.ts';
import { inSchema } from '../../projections/generations.ts';
import { projectionSets } from '../../projections/sets.ts';
import type { Sql } from '../../projections/sql.ts';
import { type FindFilter, findPayments, foundMax, paymentsInNeed } from '../../queries/findPayments.ts';
import type { Database } from '../../src/postgres/database.ts';
import { ddlOf } from '../../src/postgres/migrate.ts';
import { append, createWorld, paymentIdOf } from '../support/histories.ts';
import * as p from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';
import { fill, wholeLog } from '../support/readModels.ts';

interface Schemas {
  readonly work: string;
  readonly reports: string;
}

const sizes = { hundredThousand: 100_000, million: 1_000_000 } as const;
/** Maximum of one answer, on a machine with other work: a scan of a million rows takes longer. */
const answerWithin_ms = 1_500;
const tries = 5;
/** Payments per statement when the tables are filled. */
const atOnce = 25_000;

describe('an app with a million payments', () => {
  let database: Database;
  before(async () => {
    database = await freshDatabase();
    const world = createWorld();
    await append(world, `payment-${paymentIdOf(1)}`, p.done);
    const schemas: string[] = [];
    for (const set of projectionSets) {
      const generation = await fill(database, world.store, set, [await wholeLog(world.store)]);
      schemas.push(generation.schema);
    }
    const [work = '', reports = ''] = schemas;
    for (const [appId, size] of Object.entries(sizes))
      for (let from = 1; from < size; from += atOnce)
        await withoutTimeout((tx) => copies(tx, { work, reports }, appId, from, from + atOnce - 1));
    for (const [place, set] of projectionSets.entries()) {
      const statements = (await ddlOf(set.name)).indexes.split(/;\s*\n/).filter((text) => /\bINDEX\b/.test(text));
      for (const statement of statements)
        await withoutTimeout(async (tx) => {
          await inSchema(tx, { schema: schemas[place] ?? '' });
          await tx.query(statement);
        });
    }
    await withoutTimeout((tx) => tx.query('ANALYZE'));
  });

  /** Creating indexes of a million rows exceeds the service's statement timeout. */
  const withoutTimeout = (steps: (tx: Sql) => Promise<unknown>) =>
    database.transaction(async (tx) => {
      await tx.query('SET LOCAL statement_timeout = 0');
      await steps(tx);
    });

  async function copies(
    tx: Sql,
    { work, reports }: Schemas,
    appId: string,
    from: number,
    until: number,
  ): Promise<void> {
    await tx.query(
      `INSERT INTO ${work}.payments SELECT copy.*
         FROM ${work}.payments AS one, generate_series($2::int, $3::int) AS n,
              LATERAL jsonb_populate_record(one, jsonb_build_object(
                'app_id', $1::text, 'payment_id', $1::text || '-' || n, 'order_id', 'order-' || n,
                'created_at', timestamptz '2026-11-21' - n * interval '30 seconds',
                'source_amount', (n % 5000) + 0.5,
                'status', CASE WHEN n % 500 = 0 THEN 'payment_bounced' WHEN n % 7 = 0 THEN 'payment_expired' ELSE 'payment_payout_completed' END)
                || CASE WHEN n % 500 = 0 THEN '{"held": [{"chainId": 8453, "tokenSymbol": "USDT", "amount": "2.00"}]}' ELSE '{}' END::jsonb) AS copy
        WHERE one.app_id = 'wallet_demo'`,
      [appId, from, until],
    );
    await tx.query(
      `INSERT INTO ${reports}.payment_words (app_id, word, payment_id)
       SELECT $1::text, word, $1::text || '-' || n
         FROM generate_series($2::int, $3::int) AS n,
              unnest(ARRAY['coffee beans', '$' || (n % 5000) || '.50', 'order-' || n, '0x' || md5(n::text)]) AS word
       ON CONFLICT DO NOTHING`,
      [appId, from, until],
    );
    await tx.query(
      `INSERT INTO ${reports}.hourly_payments
         (app_id, hour, unpaid, started, payin_completed, bridging, payout_started, payout_completed, completed, bounced, expired, refunded)
       SELECT $1::text, date_trunc('hour', timestamptz '2026-11-21' - n * interval '30 seconds'),
              0, 0, 0, 0, 0, count(*) FILTER (WHERE n % 500 > 0 AND n % 7 > 0), 0, count(*) FILTER (WHERE n % 500 = 0),
              count(*) FILTER (WHERE n % 500 > 0 AND n % 7 = 0), 0
         FROM generate_series($2::int, $3::int) AS n GROUP BY 2
       ON CONFLICT DO NOTHING`,
      [appId, from, until],
    );
  }

  const questions: Readonly<Record<string, Omit<FindFilter, 'appId'>>> = {
    'the newest': {},
    'the oldest': { sort: 'oldest' },
    'the largest': { sort: 'largest' },
    'those that are paid': { group: 'paid' },
    'those that need somebody': { group: 'needs' },
    'none, as none waits': { group: 'waiting' },
    'a month': { createdAfter: '2026-10-01T00:00:00.000Z', createdBefore: '2026-11-01T00:00:00.000Z' },
    'an order': { search: 'order-99999' },
    'the beginning of every order': { search: 'ord' },
    'a title that all have': { search: 'coffee' },
    'an amount': { search: '17.5' },
    'a transaction': { search: '0xc4ca4238' },
    'what there is not': { search: 'nothing like that' },
  };
  for (const [what, filter] of Object.entries(questions)) {
    it(`answers ${what} in time`, async () => {
      const spent: Record<string, number> = {};
      for (const appId of Object.keys(sizes)) {
        const times: number[] = [];
        for (let round = 0; round < tries; round += 1) {
          const began = performance.now();
          const found = await findPayments(database, { ...filter, appId }, { limit: 50 });
          times.push(performance.now() - began);
          assert.ok(!isRefusal(found));
        }
        spent[appId] = Math.round(times.sort((a, b) => a - b)[Math.floor(tries / 2)] ?? 0);
      }
      process.stdout.write(`      ${what}: ${JSON.stringify(spent)} ms\n`);
      assert.ok((spent['million'] ?? 0) <= answerWithin_ms, `${what} took ${spent['million']} ms`);
    });
  }

  it('counts up to its bound the payments that need action', async () => {
    const { holding, capped } = await paymentsInNeed(database, 'million');
    assert.deepEqual([holding.count, capped], [foundMax, true]);
  });
}).timeout(20 * 60_000);
