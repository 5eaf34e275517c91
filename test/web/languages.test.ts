/** The dashboard in five languages: complete messages, and two languages in a browser. */
import assert from 'node:assert/strict';
import { documentOf } from '../../web/parts/html.ts';
import { type Language, languages } from '../../web/parts/language.ts';
import { deskMessages, groups } from '../../web/parts/messages/index.ts';
import type { Plural } from '../../web/parts/messages/types.ts';
import { inLanguage } from '../../web/parts/say.ts';
import { visitor } from '../support/chromium.ts';
import { obstacles, standingOut } from '../support/obstacles.ts';
import { servePages } from './pageServer.ts';
import { samplePages } from './samplePages.ts';

const others = languages.filter((language) => language !== 'en');
const drawn = new Map<Language, ReturnType<typeof samplePages>>();

/** Sample pages in a language, drawn once. */
function pagesIn(language: Language): ReturnType<typeof samplePages> {
  const known = drawn.get(language);
  if (known) return known;
  const pages = inLanguage({ language, url: '/dashboard' }, () => samplePages());
  drawn.set(language, pages);
  return pages;
}

const placesOf = (text: string): readonly string[] => (text.match(/\{\w+\}/g) ?? []).toSorted();
const formsOf = (text: string | Plural): readonly string[] => (typeof text === 'string' ? [text] : Object.values(text));

describe('the dashboard in its languages', () => {
  it('has each name of a text in one group', () => {
    const all = groups.flatMap((group) => Object.keys(group.en));
    assert.deepEqual(
      all.filter((name, place) => all.indexOf(name) !== place),
      [],
    );
  });

  for (const language of others) {
    it(`has every text in ${language}, with the places of the English text`, () => {
      for (const [name, english] of Object.entries(deskMessages.en)) {
        const text: string | Plural = deskMessages[language][name as keyof typeof deskMessages.en];
        for (const form of formsOf(text)) {
          assert.ok(form.trim() !== '', name);
          if (typeof english === 'string') assert.deepEqual(placesOf(form), placesOf(english), name);
        }
      }
    });

    it(`has every plural form of ${language}`, () => {
      const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions();
      for (const [name, text] of Object.entries(deskMessages[language])) {
        if (typeof text === 'string') continue;
        assert.deepEqual(Object.keys(text).toSorted(), pluralCategories.toSorted(), name);
      }
    });

    it(`leaves no place open on any page in ${language}`, () => {
      for (const [name, page] of Object.entries(pagesIn(language))) {
        if (name.startsWith('reference')) continue;
        assert.deepEqual(
          textsOf(documentOf(page)).filter((text) => /(^|[^/])\{\w+\}/.test(text)),
          [],
          name,
        );
      }
    });
  }

  for (const language of ['ar', 'de'] as const) {
    it(`is accessible in ${language} and does not scroll sideways on a phone`, async () => {
      await using server = await servePages(pagesIn(language));
      const someone = await visitor(server.url(''), { viewport: { width: 390, height: 844 } });
      for (const name of ['signIn', 'overview', 'payment', 'webhooks']) {
        await someone.page.goto(name);
        assert.equal(await someone.page.locator('html').getAttribute('lang'), language);
        assert.equal(await someone.page.locator('html').getAttribute('dir'), language === 'ar' ? 'rtl' : null);
        assert.deepEqual(await obstacles(someone.page), [], name);
        assert.deepEqual(await standingOut(someone.page), [], name);
      }
      await someone.leave();
    });
  }
});

/** Texts of a page without texts of other people and code. */
function textsOf(page: string): readonly string[] {
  return page
    .replaceAll(/<(bdi|pre|code|style|script|form class="languages")\b[^>]*>.*?<\/\w+>/gs, '')
    .split(/<[^>]*>/)
    .map((text) => text.trim())
    .filter((text) => text !== '');
}
