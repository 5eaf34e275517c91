/** Every page of the dashboard in every language: no text is the English one, except names and words that both languages have. */
import assert from 'node:assert/strict';
import { chains } from '../../domain/chains.ts';
import { documentOf } from '../../web/parts/html.ts';
import { type Language, languages } from '../../web/parts/language.ts';
import { inLanguage } from '../../web/parts/say.ts';
import { reportPage } from '../../web/report/page.ts';
import { about, samples } from '../tools/report/samples.ts';
import { samplePages } from './samplePages.ts';

const others = languages.filter((language) => language !== 'en');

/** Replaces the texts of other people, which are never translated. */
const ofOthers = '◇';

/** Samples of pages that have no other language: the operator's, the front page and the API reference. */
const isEnglishOnly = (name: string): boolean => /^(operator|front|reference)/.test(name);

const drawn = new Map<Language, ReadonlyMap<string, string>>();

/** Sample pages in a language, drawn once. */
function pagesIn(language: Language): ReadonlyMap<string, string> {
  const known = drawn.get(language);
  if (known) return known;
  const pages = inLanguage({ language, url: '/dashboard' }, () => samplePages('sandbox', () => ofOthers));
  const documents = Object.entries(pages)
    .filter(([name]) => !isEnglishOnly(name))
    .map(([name, page]) => [name, documentOf(page)] as const);
  const whole = new Map([...documents, ...reportsIn(language)]);
  drawn.set(language, whole);
  return whole;
}

/** The monthly report of an app and of the operator, with and without payments. */
const reportsIn = (language: Language): readonly (readonly [name: string, page: string])[] =>
  inLanguage({ language, url: null }, () =>
    (['app', 'operator'] as const).flatMap((reader) =>
      (['empty', 'many'] as const).map(
        (sample) =>
          [
            `report ${reader} ${sample}`,
            reportPage({ ...about, appId: ofOthers }, samples[sample], '', reader),
          ] as const,
      ),
    ),
  );

/** Texts that a reader sees or hears, without code. */
const textsOf = (page: string): readonly string[] =>
  page
    .replaceAll(/<span class="mono\b[^>]*>.*?<\/span>/gs, '')
    .replaceAll(/<(bdi|pre|code|style|script|form class="languages")\b[^>]*>.*?<\/\w+>/gs, '')
    .replaceAll(/<(?:"[^"]*"|[^">])*>/g, (tag) => `<>${spokenIn(tag).join('<>')}<>`)
    .split(/<>| → | · |◇/)
    .map((text) => text.replaceAll(/\s+/g, ' ').trim())
    .filter((text) => /[a-z]{2}/i.test(text));

const spokenIn = (tag: string): readonly string[] =>
  [...tag.matchAll(/\s(?:aria-label|placeholder|alt|data-copied|data-told|data-failed)="([^"]*)"/g)].map(
    ([, text = '']) => text,
  );

/** Chains, tokens, currencies, formats, languages, keys of a keyboard, an example of a name, and an error code of the API. */
const names = new Set([
  ...chains.flatMap(({ name, tokens }) => [name, ...tokens.map(({ symbol }) => symbol)]),
  ...['USD', 'EUR', 'CHF', 'JSON', 'Parquet', 'GET', 'POST', 'UTC', 'ms', 'Ctrl K', 'English', 'Español', 'Deutsch'],
  ...['Payment Intents', 'teahouse', 'unavailable'],
]);

/** A name, an amount such as `10.00 USDC`, or a time such as `12:05 UTC`. */
const isName = (text: string): boolean => names.has(text.replace(/^[\d.,:]+ /, ''));

/** Ids, addresses, URLs, and names of the API such as `payment_held` and `invalidRequest`. */
const isCode = (text: string): boolean =>
  /^\S*[\d_:/.@][^\s]*$/.test(text) || /^[A-Z]?[a-z]+([A-Z][a-z]+)+$/.test(text);

/** Words that a language shares with English. */
const shared: Readonly<Record<Exclude<Language, 'en'>, readonly string[]>> = {
  es: ['Cashback', 'Memo', 'Token', 'Webhook', 'Webhooks', '1 min', '2 min', '5 min', '15 min'],
  de: [
    ...['App', 'Cashback', 'Chain', 'Code', 'Dashboard', 'Desktop', 'Format', 'Link', 'Logo', 'Memo', 'Name', 'Status'],
    ...['Tags', 'Team', 'Text', 'Token', 'Webhook', 'Webhooks', 'November 2026', 'November 2026:'],
  ],
  zh: ['Webhook', 'Webhook URL'],
  ar: [],
};

describe('the dashboard without English left over', () => {
  const english = new Map<string, ReadonlySet<string>>();
  before(() => {
    for (const [name, page] of pagesIn('en')) english.set(name, new Set(textsOf(page)));
  });

  for (const language of others) {
    it(`has every text in ${language}`, () => {
      const left: Record<string, string> = {};
      for (const [name, page] of pagesIn(language)) {
        for (const text of textsOf(page)) {
          const isAllowed = isName(text) || isCode(text) || shared[language].includes(text);
          if (english.get(name)?.has(text) && !isAllowed) left[text] ??= name;
        }
      }
      assert.deepEqual(left, {});
    });
  }

  // Neither language has Latin letters of its own.
  for (const language of ['ar', 'zh'] as const) {
    it(`has no English sentence in ${language}`, () => {
      for (const [name, page] of pagesIn(language)) {
        const sentences = textsOf(page).filter((text) => /[a-z]{2,} [a-z]{2,} [a-z]{2,}/i.test(text));
        assert.deepEqual(sentences, [], name);
      }
    });
  }
});
