/** Settings in Arabic and Chinese in a browser: readable on a phone, arrows in the reading direction, and live sentences. */
import assert from 'node:assert/strict';
import { inLanguage } from '../../web/parts/say.ts';
import { visitor } from '../support/chromium.ts';
import { obstacles, standingOut } from '../support/obstacles.ts';
import { gateCases } from '../support/suite.ts';
import { servePages } from './pageServer.ts';
import { samplePages } from './samplePages.ts';

const phone = { width: 390, height: 844 };
const pages = [
  'settlement',
  'policy',
  'team',
  'notifications',
  'audit',
  'branding',
  'payFrom',
  'embedding',
  'sessions',
] as const;

const pagesIn = (language: 'ar' | 'zh' | 'de') => inLanguage({ language, url: '/dashboard' }, () => samplePages());

/** Paths of the arrows of this dashboard, to the left and to the right. */
const [left, right] = ['M15 5l-7 7 7 7', 'M9 5l7 7-7 7'];

describe('settings in other languages', () => {
  for (const [turn, language] of (['ar', 'zh'] as const).entries()) {
    it(`are accessible in ${language} and do not scroll sideways on a phone`, async () => {
      await using server = await servePages(pagesIn(language));
      const someone = await visitor(server.url(''), { viewport: phone });
      // In the gate each page has one of the languages.
      for (const name of gateCases(pages, (_, index) => index % 2 === turn)) {
        await someone.page.goto(name);
        assert.equal(await someone.page.locator('html').getAttribute('lang'), language);
        assert.equal(await someone.page.locator('main').getAttribute('lang'), null, `${name} is not translated`);
        assert.deepEqual(await obstacles(someone.page), [], name);
        assert.deepEqual(await standingOut(someone.page), [], name);
      }
      await someone.leave();
    });
  }

  it('have arrows in the reading direction', async () => {
    for (const [language, back, forth] of [
      ['ar', right, left],
      ['de', left, right],
    ] as const) {
      await using server = await servePages(pagesIn(language));
      const someone = await visitor(server.url(''), { viewport: phone });
      await someone.page.goto('sessions');
      assert.equal(await someone.page.locator('a.up path').first().getAttribute('d'), back, language);
      await someone.page.goto('chooseApp');
      assert.equal(await someone.page.locator('a.go > svg path').first().getAttribute('d'), forth, language);
      await someone.page.goto('audit');
      const first = someone.page.locator('a[rel=first]');
      assert.equal(await first.locator('path').getAttribute('d'), back, language);
      assert.equal(await first.locator('svg').evaluate((svg) => getComputedStyle(svg).scale), 'none', 'turned twice');
      await someone.leave();
    }
  });

  it('renew the example of the policy in the language and its numbers', async () => {
    await using server = await servePages(pagesIn('de'));
    const someone = await visitor(server.url(''));
    await someone.page.goto('policy');
    await someone.page.locator('input[name=percent]').fill('1');
    await someone.page.locator('input[name=most]').fill('0.50');
    const sentence = 'Eine Bestellung über 100,00, die 99,50 erhält, gilt als bezahlt.';
    await someone.page.locator('[data-example=tolerance]').filter({ hasText: sentence }).waitFor();
    await someone.leave();
  });
});
