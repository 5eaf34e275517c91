/** Payment pages in a real browser: in every language and presentation, with every text from other people. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { isDue } from '../../domain/payment/choose.ts';
import { colourSheet, contrast, readable, readColour } from '../../web/parts/colour.ts';
import { documentOf } from '../../web/parts/html.ts';
import { type Language, languageOf, languages } from '../../web/parts/language.ts';
import { messages, sayIn } from '../../web/pay/messages/index.ts';
import { durationOf } from '../../web/pay/outcome.ts';
import { payPage } from '../../web/pay/page.ts';
import { type Visitor, visitor } from '../support/chromium.ts';
import { cutOff, obstacles, standingOut } from '../support/obstacles.ts';
import { scanned } from '../support/qr.ts';
import { gateCases, isFull } from '../support/suite.ts';
import { coveringPages } from './coveringPages.ts';
import { type PageServer, servePages } from './pageServer.ts';
import { payModel, payPages, type StoryName, stories } from './samples/payPages.ts';

const englishPages = payPages('en');
/** In the gate: pages that together have every kind of element. */
const pageNames = isFull ? Object.keys(englishPages) : coveringPages(englishPages);

async function looking(
  language: Language,
  look: (someone: Visitor, server: PageServer) => Promise<void>,
): Promise<void> {
  const server = await servePages(payPages(language));
  const someone = await visitor(server.url(''), { viewport: { width: 320, height: 640 } });
  try {
    await look(someone, server);
  } finally {
    await someone.leave();
    await server[Symbol.asyncDispose]();
  }
}

/** The widest spacing that people may set: https://www.w3.org/TR/WCAG22/#text-spacing. */
const spaceOut = (page: Page): Promise<void> =>
  page.locator('body *').evaluateAll((all) => {
    for (const { style } of all as HTMLElement[]) {
      style.letterSpacing = '0.12em';
      style.wordSpacing = '0.16em';
    }
  });

/** The language with the longest words. */
const widest: Language = 'de';

type Scheme = 'light' | 'dark';
const schemes: readonly Scheme[] = ['light', 'dark'];

/** Colours depend on the element and not on its words, so the dark scheme is checked in one language per writing direction. */
const nightlyIn: readonly Language[] = ['en', 'ar'];

/** The colour schemes in which the nth page is checked. In the gate each page has one language and one scheme. */
function schemesOf(nth: number, language: Language): readonly Scheme[] {
  if (isFull) return nightlyIn.includes(language) ? schemes : ['light'];
  return languages[nth % languages.length] === language ? schemes.filter((_, turn) => turn === nth % 2) : [];
}

interface Code {
  readonly name: StoryName;
  readonly walletLink: string;
}

/** The shortest and the longest code of each protocol. */
const extremesOf = (codes: readonly Code[]): readonly Code[] =>
  Object.values(Object.groupBy(codes, ({ walletLink }) => walletLink.split(':', 1)[0] ?? '')).flatMap((own = []) => {
    const sorted = own.toSorted((one, other) => one.walletLink.length - other.walletLink.length);
    return sorted.length > 1 ? [sorted[0] as Code, sorted.at(-1) as Code] : sorted;
  });

describe('pages of payments in a browser', () => {
  for (const language of languages) {
    const spacing = language === widest ? ', also with letters and words further apart' : '';
    it(`are accessible in ${language}, at 320 pixels${spacing}`, () =>
      looking(language, async ({ page }) => {
        for (const [nth, name] of pageNames.entries()) {
          const [first, second] = schemesOf(nth, language);
          if (first === undefined) continue;
          await page.emulateMedia({ colorScheme: first });
          await page.goto(name);
          assert.deepEqual(await obstacles(page), [], `${name}, ${first}`);
          if (second !== undefined) {
            await page.emulateMedia({ colorScheme: second });
            assert.deepEqual(await obstacles(page, 'colours'), [], `${name}, ${second}`);
          }
          assert.equal(await page.evaluate(() => document.documentElement.lang), language);
          assert.deepEqual(await standingOut(page), [], `${name} scrolls sideways`);
          if (language !== widest) continue;
          await spaceOut(page);
          assert.deepEqual(await standingOut(page), [], `${name} scrolls sideways when spaced out`);
          assert.deepEqual(await cutOff(page), [], `${name} cuts words off when spaced out`);
        }
      }));
  }

  it('have a code with the button’s target, in light and dark', () =>
    looking('ar', async ({ page }) => {
      const due = (Object.keys(stories) as StoryName[]).flatMap((name) => {
        const { walletLink, facts } = payModel(stories[name], 'ar');
        return walletLink !== null && isDue(facts.situation) ? [{ name, walletLink }] : [];
      });
      // In the gate a camera reads the shortest and the longest code of each protocol, in alternate colour schemes.
      const codes = isFull ? due : extremesOf(due);
      for (const { name, walletLink } of due) {
        await page.goto(name);
        await page.locator('details.folded').evaluateAll((all) => {
          for (const each of all) (each as HTMLDetailsElement).open = true;
        });
        assert.equal(await page.locator('.scan a').getAttribute('href'), walletLink);
        assert.equal(await page.locator('.scan a + p').isVisible(), true, 'states the other ways, as nothing may open');
        const index = codes.findIndex((code) => code.name === name);
        if (index < 0) continue;
        for (const colorScheme of gateCases(schemes, (_, turn) => turn === index % schemes.length)) {
          await page.emulateMedia({ colorScheme });
          assert.equal(await scanned(page), walletLink, `${name}, ${colorScheme}`);
        }
      }
    }));

  it('count down, copy, and insert news without losing the focus', () =>
    looking('de', async ({ page }, server) => {
      await page.goto('waiting');
      await page
        .getByRole('timer')
        .getByText(/^noch \d\d:\d\d$/)
        .waitFor();
      await server.listened();
      await page.getByRole('button', { name: 'Kopieren Senden an' }).focus();
      assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'BUTTON');
    }));
});

describe('hostile texts in pages of payments', () => {
  const attack = [
    `<script>globalThis.ran = true</script><img src=x onerror="globalThis.ran=true">`,
    `" autofocus onfocus="globalThis.ran=true" x="' onclick='globalThis.ran=true`,
    '</bdi></title></a><h1>Broken out</h1><!--',
    'pay \u202e0x8f21\u2066 to\u2069 \u061c\u0000\ud800',
    'W'.repeat(3_000),
  ].join('');

  it('remain texts, in their places', async () => {
    const server = await servePages(payPages('ar', (ours) => `${attack}${ours}`));
    const { page, leave } = await visitor(server.url(''), { viewport: { width: 320, height: 640 } });
    try {
      for (const name of pageNames) {
        await page.goto(name);
        const found = await page.evaluate(() => ({
          ran: 'ran' in globalThis,
          elements: document.querySelectorAll('[onerror], [onfocus], [onclick], img[src="x"], script:not([src])')
            .length,
          broken: [...document.querySelectorAll('h1')].some((heading) => heading.textContent === 'Broken out'),
          harmful: /[\p{Bidi_Control}\u2028\u2029\u2060\ufeff]|(?![\n\t])\p{Cc}|\p{Cs}/u.test(
            document.documentElement.outerHTML,
          ),
          sideways: document.documentElement.scrollWidth > document.documentElement.clientWidth,
        }));
        assert.deepEqual(
          { name, ...found },
          { name, ran: false, elements: 0, broken: false, harmful: false, sideways: false },
        );
      }
    } finally {
      await leave();
      await server[Symbol.asyncDispose]();
    }
  });
});

describe('the texts of payment pages', () => {
  const textOf = (name: StoryName): string =>
    documentOf(payPage(payModel(stories[name], 'en'))).replaceAll(/<[^>]+>/g, '');

  const said: Readonly<Partial<Record<StoryName, readonly RegExp[]>>> = {
    waiting: [/Pay 10\.01 USDC to Tea House/, /Send only USDC, only on Base/],
    waitingForCall: [
      /Call the contract/,
      /pay --sender GBRPYHIL\S+ --amount 100100000 --memo 00112233445566778899aabbccdd/,
    ],
    timeUp: [/Do not send anything now/],
    detected: [/Detected on Base. You can close this page/],
    confirming: [/3 of 10/],
    confirmingByTag: [/Blocks on top: 3/],
    underpaid: [
      /2\.51 USDC/,
      /still missing of 10\.01 USDC/,
      /7\.50 USDC arrived and is kept safe/,
      /until 21 Nov 2026, 10:00 UTC/,
    ],
    gone: [/wait before you pay again/],
    paid: [/Your payment is final/],
    payingOut: [/is being paid on Ethereum/],
    completed: [
      /has been paid/,
      /You sent10\.01 USDC on Base/,
      /Tea House received10\.00 USDC on Ethereum/,
      /Back to Tea House/,
    ],
    overpaid: [/1\.99 USDC more than requested arrived/],
    expired: [/Do not send anything to its address any more/],
    late: [/The money arrived too late/, /can refund it/],
    wrongToken: [/This payment accepts only USDC/, /can still be paid/],
    wrongChain: [/accepts USDC on Base/, /can still be paid/],
    otherSender: [/Only the account named for this payment can pay it/, /can still be paid/, /Call the contract/],
    tooLow: [/7\.50 USDC arrived, so the order is not paid/],
    refunding: [/on its way back/],
    refunded: [/All the money that arrived has been refunded/],
  };
  for (const [name, patterns] of Object.entries(said)) {
    it(`${name}: what happens with the money, and whom to ask`, () => {
      const text = textOf(name as StoryName);
      for (const pattern of [...patterns, /Ask Tea House: help@teahouse\.example/]) assert.match(text, pattern);
    });
  }

  it('have no unreadable character in any language', () => {
    for (const language of languages)
      for (const [name, page] of Object.entries(payPages(language)))
        assert.ok(!documentOf(page).includes('\ufffd'), `${name} in ${language}`);
  });

  it('call a shop without a name the merchant, also where a sentence begins with it', () => {
    const bare = { name: null, logoUrl: null, colour: null, supportContact: null, returnUrl: 'https://shop.example/' };
    const said = (language: Language) =>
      documentOf(payPage({ ...payModel(stories.completed, language), shop: bare })).replaceAll(/<[^>]+>/g, '');
    assert.match(said('en'), /The merchant has been paid\..*Back to the merchant.*Ask the merchant\. Show/s);
    assert.match(said('de'), /Das Geschäft hat Ihr Geld erhalten\..*Zurück zum Geschäft.*an das Geschäft\. Zeigen/s);
    assert.match(said('es'), /La tienda ha recibido su dinero\..*Volver a la tienda.*Contacte con la tienda/s);
    const named = documentOf(payPage({ ...payModel(stories.completed, 'en'), shop: { ...bare, name: 'iTea' } }));
    assert.match(named.replaceAll(/<[^>]+>/g, ''), /iTea has been paid/);
  });

  it('count no block of a chain for money that arrived on another one', () => {
    assert.match(textOf('chosenElsewhere'), /7\.50 USDC arrived on Base/);
    assert.doesNotMatch(textOf('chosenElsewhere'), /Final on Solana/);
    assert.match(textOf('underpaid'), /Final on Base/);
  });

  it('request money only while it counts', () => {
    const asks = (Object.keys(stories) as StoryName[]).filter(
      (name) => textOf(name).includes('Open in wallet') || textOf(name).includes('Call the contract'),
    );
    assert.deepEqual(asks, [
      'waiting',
      'waitingOnStellar',
      'waitingOnSolana',
      'waitingForCall',
      'choosing',
      'chosenElsewhere',
      'exactIn',
      'exactInElsewhere',
      'itemised',
      'itemisedLong',
      'underpaid',
      'gone',
      'wrongToken',
      'wrongChain',
      'otherSender',
    ]);
  });

  it('is small', () => {
    for (const name of Object.keys(stories) as StoryName[]) {
      assert.ok(documentOf(payPage(payModel(stories[name], 'ar'))).length < 32_000, name);
    }
  });
});

describe('messages', () => {
  const places = (message: string): readonly string[] =>
    [...message.matchAll(/\{\w+\}/g)].map(([place]) => place).toSorted();

  for (const language of languages) {
    it(`in ${language} are whole, each with the placeholders of the English one, and none is left in English`, () => {
      for (const [name, english] of Object.entries(messages.en)) {
        const own = messages[language][name as keyof typeof messages.en];
        assert.deepEqual(places(own), places(english), name);
        assert.ok(own.trim() !== '', name);
        assert.ok(!/[<>]/.test(own), name);
        if (language !== 'en' && english.length > 25) assert.notEqual(own, english, name);
      }
    });
  }

  const durations: Readonly<Record<Language, readonly string[]>> = {
    en: ['1 second', '2 minutes', '5 hours', '11 minutes', '100 hours'],
    es: ['1 segundo', '2 minutos', '5 horas', '11 minutos', '100 horas'],
    de: ['1 Sekunde', '2 Minuten', '5 Stunden', '11 Minuten', '100 Stunden'],
    zh: ['1秒钟', '2分钟', '5小时', '11分钟', '100小时'],
    ar: ['ثانية', 'دقيقتان', '5 ساعات', '11 دقيقة', '100 ساعة'],
  };
  for (const language of languages) {
    it(`state a duration in ${language} in the plural form of its count`, () => {
      const second_ms = 1_000;
      const lengths = [1, 2 * 60, 5 * 3_600, 11 * 60, 100 * 3_600];
      assert.deepEqual(
        lengths.map((seconds) => durationOf(sayIn(language), seconds * second_ms)),
        durations[language],
      );
    });
  }

  it('are in the chosen language, else in the one that the browser prefers', () => {
    assert.equal(languageOf('de', 'es'), 'de');
    assert.equal(languageOf('xx', 'es'), 'es');
    assert.equal(languageOf(undefined, 'fr-CH, fr;q=0.9, ar;q=0.8, de;q=0.9'), 'de');
    assert.equal(languageOf(undefined, 'zh-Hant-TW'), 'zh');
    assert.equal(languageOf(undefined, 'de;q=0, es;q=0.1'), 'es');
    for (const odd of [null, '', '*', 'de;q=x'.repeat(5_000), ';;;,,,', '\u0000']) languageOf(undefined, odd);
    assert.equal(languageOf(undefined, 'fr'), 'en');
  });
});

describe('a merchant’s colour', () => {
  it('can be read in light and dark, whatever it is', () => {
    for (const colour of ['#000000', '#ffffff', '#ffff00', '#0a5c48', '#7f7f7f', '#ff0000', '#0000ff', '#fefefe']) {
      const sheet = colourSheet(colour) ?? '';
      const [day = '', night = ''] = sheet.split('\n');
      for (const [rules, surface] of [
        [day, '#ffffff'],
        [night, '#17191c'],
      ] as const) {
        const of = (pattern: RegExp) => readColour(pattern.exec(rules)?.[1] ?? '') ?? [];
        const ground = readColour(surface) ?? [];
        assert.ok(contrast(of(/--accent:(#\w+)/), of(/--on-accent:(#\w+)/)) >= readable, `${colour}: ink on it`);
        assert.ok(contrast(of(/b\{color:(#\w+)/), ground) >= readable, `${colour}: as text`);
      }
    }
    assert.equal(colourSheet('red;}'), null);
  });
});
