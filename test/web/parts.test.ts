import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { Instant } from '../../domain/time.ts';
import { explorerUrl, grouped, lengthText, when } from '../../web/parts/cells.ts';
import { barChart } from '../../web/parts/chart.ts';
import { contrast, inkOn, readable, readableOn, readColour } from '../../web/parts/colour.ts';
import { cut, documentOf, html } from '../../web/parts/html.ts';
import { appPaths, withQuery } from '../../web/parts/paths.ts';
import { samplePages } from './samplePages.ts';

describe('parts of pages', () => {
  it('group the digits of an amount and change none of them', () => {
    const amounts = ['0.00', '999.5', '1000.00', '1234567.0000001', '123456789012345678901234.5678'];
    assert.deepEqual(amounts.map(grouped), [
      '0.00',
      '999.5',
      '1,000.00',
      '1,234,567.0000001',
      '123,456,789,012,345,678,901,234.5678',
    ]);
  });

  it('state lengths of time in one unit, never shorter than they are', () => {
    const lengths_ms = [0, 81, 1_001, 99_000, 99_001, 3_600_000, 48 * 3_600_000, 49 * 3_600_000];
    assert.deepEqual(lengths_ms.map(lengthText), ['0 ms', '81 ms', '2 s', '99 s', '2 min', '60 min', '48 h', '3 days']);
  });

  it('state times in UTC, with the exact time beside it', () => {
    assert.equal(
      documentOf(when('2026-11-02T09:04:05.678Z' as Instant)),
      '<!doctype html><time datetime="2026-11-02T09:04:05.678Z" data-local="minutes">2 Nov, 09:04 UTC</time>',
    );
  });

  it('cut a text between characters, not inside one', () => {
    assert.deepEqual([cut('tea', 3), cut('teas', 3), cut('👩‍👧👩‍👧', 2)], ['tea', 'te…', '👩…']);
  });

  it('keep another person’s text out of the rest of a path', () => {
    assert.equal(appPaths('a/b').payment('../x?y#z'), '/dashboard/apps/a%2Fb/payments/..%2Fx%3Fy%23z');
    assert.equal(withQuery('/p', { q: 'a&b=c', status: '', cursor: null }), '/p?q=a%26b%3Dc');
  });

  it('remove invisible marks from every text', () => {
    const page = documentOf(html`<p title=${'\u202eeno'}>${'a\u0007b\u2066c\ud800d\n\t'}</p>`);
    assert.equal(page, '<!doctype html><p title="\ufffdeno">a\ufffdb\ufffdc\ufffdd\n\t</p>');
  });

  it('lead to the explorer of a chain or of its test network, and in a sandbox to none', () => {
    assert.equal(explorerUrl('live', 8453, '0xab'), 'https://basescan.org/tx/0xab');
    assert.equal(explorerUrl('test', 501, 'a/b'), 'https://explorer.solana.com/tx/a%2Fb?cluster=devnet');
    assert.equal(explorerUrl('sandbox', 8453, '0xab'), null);
  });

  it('state that nothing can be refunded in place of a form without a choice', () => {
    const pages = samplePages();
    const [some, none] = ['fundRefund', 'fundNothing'].map((name) => documentOf(pages[name] ?? assert.fail(name)));
    assert.match(some ?? '', /<select[^>]*name="sender"/);
    assert.match(none ?? '', /Nothing can be refunded now/);
    assert.doesNotMatch(none ?? '', /<select|fund-refund"/);
  });

  it('make any colour readable, in light and dark, and text on it', () => {
    const colours = Array.from({ length: 512 }, (_, place) =>
      [place >> 6, (place >> 3) & 7, place & 7].map((c) => c * 36),
    );
    for (const ground of ['#ffffff', '#17191c'].map((text) => readColour(text) ?? [])) {
      for (const colour of colours) {
        const accent = readableOn(ground, colour);
        assert.ok(contrast(accent, ground) >= readable, `${colour} on ${ground}`);
        assert.ok(contrast(inkOn(accent), accent) >= readable, `text on ${accent}`);
      }
    }
    assert.deepEqual(readableOn([255, 255, 255], [10, 92, 72]), [10, 92, 72], 'a readable one stays');
  });

  it('draw a chart of one day, of thirty, of nothing and of huge amounts', () => {
    for (const values of [['1.00'], ['0.00', '0.00'], Array<string>(30).fill('123456789012345678.000001')]) {
      const drawn = documentOf(
        barChart(
          'Volume',
          'USDC',
          values.map((value) => ({ date: '2026-11-22', value, count: 1 })),
        ),
      );
      assert.doesNotMatch(drawn, /NaN|Infinity|undefined/);
      assert.equal(drawn.match(/<rect/g)?.length, 3 * values.length);
    }
  });
});

describe('the style of pages', () => {
  it('is one sheet of at most 25 kB, which knows no left and no right', async () => {
    const sheet = await readFile(new URL('../../web/look.css', import.meta.url), 'utf8');
    assert.ok(sheet.length <= 25 * 1_024, `${sheet.length} bytes`);
    const rules = sheet.replace(/\/\*.*?\*\//gs, '').replace(/@(media|container)[^{]*/g, '');
    assert.deepEqual(
      rules.match(
        /(?<![\w-])((margin|padding|border)-(left|right|top|bottom)|left|right|top|bottom|width|height|(min|max)-(width|height)|float)\s*:/g,
      ),
      null,
    );
    assert.deepEqual(rules.match(/url\(|@import/g), null);
  });

  it('is nowhere else: no page has a style, a handler or a script of its own', () => {
    for (const [name, page] of Object.entries(samplePages('test'))) {
      assert.doesNotMatch(
        documentOf(page),
        /\sstyle=|<style|\son\w+=|<script(?! type="module" src="\/dashboard\/assets\/)/,
        name,
      );
      assert.doesNotMatch(documentOf(page), /undefined|\[object|NaN/, name);
    }
  });
});
