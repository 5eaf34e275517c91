/** Reports of one app for its people: their own numbers, no cost of the operator, and few at a time. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Unavailable } from '../../commands/ports.ts';
import { plus } from '../../domain/time.ts';
import { monthNamed } from '../../queries/monthlyReport.ts';
import { createAppReports, createFiatRates } from '../../src/api/reports.ts';
import type { Database } from '../../src/postgres/database.ts';
import { reportPage } from '../../web/report/page.ts';
import * as p from '../support/payments.ts';
import { payment, reportedMonth } from '../support/reportedMonth.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const month = monthNamed('2026-11') ?? assert.fail();
const now = p.minute(120);
const clock = { now: () => now };

describe('the reports of an app', () => {
  let database: Database;
  const never = new AbortController().signal;
  before(async () => {
    const excess = p.payin({ amount: '11.01', tx: 'too much' });
    const overpaid = p.funded([excess], { received: '11.01', excess: '1.00', rule: 'overpaid' });
    database = await reportedMonth([payment(6, [p.created(), p.confirmed(excess), overpaid])]);
  });
  const reports = (fiatRates = createFiatRates(null, clock)) => createAppReports({ sql: database, clock, fiatRates });

  it('show its month without the operator’s costs and without SQL', async () => {
    const { about, answers } = await reports().month('wallet_demo', month, never);
    assert.deepEqual(
      answers.fees.rows.map((row) => [row['payments'], row['fees'], 'cost' in row]),
      [['2', '0.02', false]],
    );
    assert.deepEqual(
      answers.held.rows.map(({ reason, amount }) => [reason, Number(amount)]),
      [
        ['amountTooLow', 4],
        ['excess', 1],
      ],
    );
    const page = reportPage(about, answers, '', 'app');
    assert.doesNotMatch(page, /SELECT|Cost|spent|COIN_PRICE/);
    assert.match(page, /Fees of 0\.02 dollars/);
    const others = await reports().month('wallet_other', month, never);
    assert.deepEqual([others.answers.fees.rows, others.answers.held.rows], [[], []]);
  });

  it('are at most two at a time for an app, and release their places', async () => {
    const whole = reports();
    const [first, second, third] = [new AbortController(), new AbortController(), new AbortController()];
    const asked = { appId: 'wallet_demo', month, form: 'full', currency: null } as const;
    await whole.accounting(asked, first.signal);
    await whole.month('wallet_demo', month, second.signal);
    await assert.rejects(whole.accounting(asked, third.signal), /too many exports/);
    await whole.month('wallet_other', month, third.signal);
    first.abort();
    await whole.accounting(asked, new AbortController().signal);
  });

  it('have other currencies only where the operator has rates', async () => {
    const file = join(temporaryDirectory(), 'rates.csv');
    writeFileSync(file, '2026-11-21,EUR,0.8\n');
    const asked = { appId: 'wallet_demo', month, form: 'full', currency: 'EUR' } as const;
    await assert.rejects(reports().accounting(asked, never), /no rates of this currency/);
    const rated = reports(createFiatRates(file, clock));
    assert.deepEqual(await rated.currencies(), ['EUR']);
    const answer = await rated.accounting(asked, never);
    assert.ok('pieces' in answer);
    let text = '';
    for await (const piece of answer.pieces) text += piece;
    assert.match(text, /"10\.01","0\.01","10","0","0x[0-9a-f]+","EUR","0\.8","8\.01"/);
    await assert.rejects(rated.accounting({ ...asked, currency: 'CHF' }, never), /no rates/);
  });
});

describe('the source of rates', () => {
  const answering = (answer: () => Response | Promise<Response>) => {
    let calls = 0;
    const get = (async () => {
      calls += 1;
      return answer();
    }) as typeof fetch;
    return { get, calls: () => calls };
  };

  it('is read once per hour, by one reader at a time, and its last answer outlives a failure', async () => {
    let at = now;
    let fails = false;
    const { get, calls } = answering(() =>
      fails ? new Response('', { status: 500 }) : new Response('2026-11-21,EUR,0.8'),
    );
    const rates = createFiatRates('https://rates.example/all.csv', { now: () => at }, get);
    await Promise.all([rates(), rates(), rates()]);
    assert.equal(calls(), 1);
    at = plus(at, 3_600_000);
    fails = true;
    assert.deepEqual((await rates())?.currencies, ['EUR']);
    await rates();
    assert.equal(calls(), 2, 'a source that failed is left alone for a while');
  });

  it('is refused when it fails, is too large, or holds something else', async () => {
    const bodies = [
      () => new Response('', { status: 404 }),
      () => new Response('x'.repeat(4_000_001)),
      () => new Response('<html>'),
      () => Promise.reject(new TypeError('no connection')),
    ];
    for (const body of bodies)
      await assert.rejects(createFiatRates('https://rates.example/', clock, answering(body).get)(), Unavailable);
    await assert.rejects(createFiatRates('/nowhere/rates.csv', clock)(), Unavailable);
  });
});
