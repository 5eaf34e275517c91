import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { PaymentEvent } from '../../../domain/payment/events.ts';
import { exactSum, roundedTo } from '../../../queries/monthlyReport.ts';
import { makeAnalytics } from '../../../src/postgres/analytics.ts';
import { type Database, openDatabase } from '../../../src/postgres/database.ts';
import { inLanguage } from '../../../web/parts/say.ts';
import { reportPage } from '../../../web/report/page.ts';
import { visitor } from '../../support/chromium.ts';
import { obstacles, standingOut } from '../../support/obstacles.ts';
import { runTool } from '../../support/operatorTools.ts';
import * as p from '../../support/payments.ts';
import { payment, reportedMonth } from '../../support/reportedMonth.ts';
import { gateCases, isFull } from '../../support/suite.ts';
import { temporaryDirectory } from '../../support/temporaryDirectory.ts';
import { about, samples } from './samples.ts';
import { reportSheet } from './sheet.ts';

/** Overpaid by 1.00, of which 0.40 is being refunded; and an equal overpayment whose payout no receiver accepts. */
const tooMuch = p.payin({ amount: '11.01', tx: 'too much' });
const overpaid = [
  p.created(),
  p.confirmed(tooMuch),
  p.funded([tooMuch], { received: '11.01', excess: '1.00', rule: 'overpaid' }),
];
const ofExcess: readonly (readonly PaymentEvent[])[] = [
  payment(6, [...overpaid, p.refundRequested('0.40', { reason: 'excess' })]),
  payment(7, [...overpaid, p.payoutRequested(), p.bounced('payoutImpossible', '11.01')]),
];

/** Texts of one section of the page. */
interface Shown {
  readonly id: string;
  readonly sql: string;
  readonly parameters: readonly string[];
  readonly cells: readonly (readonly string[])[];
}

const shownOn = (page: Page): Promise<readonly Shown[]> =>
  page.$$eval('section', (sections) =>
    sections.map((section) => {
      const texts = (selector: string) => [...section.querySelectorAll(selector)].map((each) => each.textContent ?? '');
      const rows = [...section.querySelectorAll('tbody tr')];
      return {
        id: section.id,
        sql: texts('details pre code').join(),
        parameters: texts('[data-parameter]'),
        cells: rows.map((row) => [...row.querySelectorAll('data')].map(({ value }) => value)),
      };
    }),
  );

/** `'it''s'` or NULL, as SQL spells them. */
const spelled = (literal: string): string | null =>
  literal === 'NULL' ? null : literal.slice(1, -1).replaceAll("''", "'");

describe('npm run report', () => {
  let database: Database;
  let analyst: Database;
  const folder = temporaryDirectory();
  const tool = (...args: string[]) =>
    runTool('report', args, { database: analyst, env: { COIN_PRICE_1: '3000', DATABASE_URL: analyst.url } });

  before(async () => {
    database = await reportedMonth(ofExcess);
    await makeAnalytics(database, new Map());
    analyst = await asAnalyst(database);
  });
  after(async () => {
    await analyst.close();
    await database.query(`DROP OWNED BY ${role}`);
    await database.query(`DROP ROLE ${role}`);
  });

  it('writes one page; each of its tables equals the answer to the SQL beside it for an analyst', async () => {
    const out = join(folder, 'november.html');
    const { code, said } = await tool('--month', '2026-11', '--out', out);
    assert.equal(code, 0, said);
    const { page, leave } = await visitor('http://127.0.0.1', { javaScriptEnabled: true });
    await page.setContent(readFileSync(out, 'utf8'));
    const shown = await shownOn(page);
    assert.deepEqual(
      shown.map(({ id }) => id),
      ['volume', 'funnel', 'durations', 'fees', 'held'],
    );
    for (const { id, sql, parameters, cells } of shown) {
      const rows = await analyst.query<Record<string, unknown>>(sql, parameters.map(spelled));
      const answered = rows.map((row) => Object.values(row).map((value) => (value === null ? '' : String(value))));
      assert.ok(cells.length > 0, `${id} has rows`);
      assert.deepEqual(cells, answered, id);
    }
    const held = shown.find(({ id }) => id === 'held')?.cells;
    assert.deepEqual(
      held?.map((cells) => `${cells[0]} ${cells.at(-1)}`),
      ['payoutImpossible 11.01', 'unmatched 7.00', 'amountTooLow 4.00', 'excess 0.60'],
    );
    assert.equal((await page.$$('script, link, img, iframe')).length, 0);
    await leave();
  });

  it('has the numbers that follow from the events', async () => {
    const out = join(folder, 'facts.html');
    await tool('--month', '2026-11', '--app', 'wallet_demo', '--out', out);
    const { page, leave } = await visitor('http://127.0.0.1');
    await page.setContent(readFileSync(out, 'utf8'));
    const facts = await page.$$eval('[data-fact]', (all) => all.map(({ textContent }) => textContent));
    // Four of seven were paid. Each of the two payouts had a fee of one cent, and cost 0.0001 ETH at 3,000 dollars.
    assert.deepEqual(facts, ['20.02', '57.1 %', '0.0 %', '-0.5800', '15.61']);
    const stages = (await shownOn(page)).find(({ id }) => id === 'funnel')?.cells;
    assert.deepEqual(
      stages?.map(([stage, count]) => `${stage} ${count}`),
      ['created 7', 'seen 5', 'funded 4', 'paid_out 2', 'expired 1', 'bounced 2'],
    );
    await leave();
  });

  it('states for a month without payments, or for another app, that there were none', async () => {
    for (const args of [
      ['--month', '2026-10'],
      ['--month', '2026-11', '--app', 'wallet_other'],
    ]) {
      const out = join(folder, `${args.join('')}.html`);
      assert.equal((await tool(...args, '--out', out)).code, 0);
      const text = readFileSync(out, 'utf8');
      assert.match(text, /Nothing was paid out in this month\..*No payment was created in this month\./s);
      assert.match(text, /Nothing was earned and nothing spent/);
    }
    assert.match((await tool('--month', 'November')).said, /a month such as 2026-11/);
  });

  const role = `analyst_${process.pid}`;

  /** A role with the rights of an analyst, and no others. */
  async function asAnalyst(owner: Database): Promise<Database> {
    await owner.query(`CREATE ROLE ${role} LOGIN PASSWORD 'reads'`);
    await owner.query(`GRANT SELECT ON payments, hourly_stats, daily_durations, treasury_movements TO ${role}`);
    await owner.query(`GRANT USAGE ON SCHEMA analytics TO ${role}`);
    await owner.query(`GRANT SELECT ON analytics.held_money TO ${role}`);
    const url = new URL(owner.url);
    [url.username, url.password] = [role, 'reads'];
    return openDatabase({ url: url.href, applicationName: 'analyst' });
  }
});

describe('the page of a report', () => {
  for (const [name, answers] of Object.entries(samples)) {
    it(`fits a telephone, a desk and paper, in the light and in the dark: ${name}`, async () => {
      const document = reportPage(about, answers, reportSheet);
      const screens = [
        [360, 'dark'],
        [1280, 'light'],
      ] as const;
      // The gate tries only the sample with the most rows on both.
      for (const [width, colorScheme] of gateCases(screens, ([each]) => each === 360 || name === 'many')) {
        const { page, leave } = await visitor('http://127.0.0.1', { viewport: { width, height: 800 }, colorScheme });
        await page.setContent(document);
        assert.deepEqual(await obstacles(page), []);
        assert.deepEqual(await standingOut(page), []);
        assert.deepEqual(await cutTexts(page), [], `${width}: no text of a plot leaves its card`);
        await page.emulateMedia({ media: 'print' });
        assert.ok(await page.isVisible('#volume details pre'), 'paper has the SQL');
        await leave();
      }
    });
  }

  for (const language of ['ar', 'de'] as const) {
    it(`fits a telephone in ${language}`, async () => {
      const document = inLanguage({ language, url: null }, () => reportPage(about, samples.many, reportSheet));
      const { page, leave } = await visitor('http://127.0.0.1', { viewport: { width: 360, height: 800 } });
      await page.setContent(document);
      assert.equal(await page.locator('html').getAttribute('lang'), language);
      // The English page has the same elements.
      if (isFull) assert.deepEqual(await obstacles(page), []);
      assert.deepEqual(await standingOut(page), []);
      assert.deepEqual(await cutTexts(page), []);
      await leave();
    });
  }

  it('has the numbers and dates of its language, and keeps the values of the cells', () => {
    const inGerman = inLanguage({ language: 'de', url: null }, () => reportPage(about, samples.many, ''));
    assert.match(inGerman, /<h1>November 2026<\/h1>.*Stand: <time datetime="[^"]*">01\.12\.2026, 06:30<\/time>/s);
    assert.match(inGerman, /<data value="212040\.18">212\.040,18<\/data>/);
    const inArabic = inLanguage({ language: 'ar', url: null }, () => reportPage(about, samples.one, ''));
    assert.match(inArabic, /^<!doctype html><html lang="ar" dir="rtl">/);
    assert.match(inArabic, /<span dir="ltr">-0\.1584<\/span>/);
  });

  it('shows a hostile app’s name as a text', () => {
    const hostile = reportPage({ ...about, appId: '<script>alert(1)</script>' }, samples.one, reportSheet);
    assert.ok(!hostile.includes('<script'));
  });

  /** Texts of the plots that extend beyond their card, or overlap another text. */
  const cutTexts = (page: Page): Promise<readonly string[]> =>
    page.$$eval('section', (sections) =>
      sections.flatMap((section) => {
        const { left, right } = section.getBoundingClientRect();
        return [...section.querySelectorAll('svg text')]
          .filter((text) => {
            const box = text.getBoundingClientRect();
            return box.width > 0 && (box.left < left || box.right > right);
          })
          .map(({ textContent }) => String(textContent));
      }),
    );
});

describe('sums in a report', () => {
  it('are exact, and rounded only in their display', () => {
    assert.equal(
      exactSum(['0.1', '0.2', '-12345678901234567890.000000000000000001']),
      '-12345678901234567889.700000000000000001',
    );
    assert.equal(exactSum([]), '0');
    assert.equal(roundedTo('-0.00004', 4), '0.0000');
    assert.equal(roundedTo('-1.00005', 4), '-1.0001');
    assert.equal(roundedTo('2.675', 2), '2.68');
  });
});
