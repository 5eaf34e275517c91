import assert from 'node:assert/strict';
import { type Visitor, visitor } from '../support/chromium.ts';
import { gateCases } from '../support/suite.ts';
import { type PageServer, servePages } from './pageServer.ts';
import { samplePages } from './samplePages.ts';

/** Hostile texts in a name, an order or a server's answer. */
const attacks: Readonly<Record<string, string>> = {
  'what runs, what ends attributes and elements, what turns or hides letters, halves of characters': [
    `<script>globalThis.ran = true</script><img src=x onerror="globalThis.ran=true"><svg onload=globalThis.ran=true>`,
    `" autofocus onfocus="globalThis.ran=true" x="' onclick='globalThis.ran=true`,
    '</bdi></title></pre></textarea></script><h1>Broken out</h1><!--',
    'pay \u202e0x8f21\u2066 to\u2069 \u200fme\u061c',
    'a\u0000b\u0007c\u001b[31md\u007fe\u0085f\u2028g\u2060h\ufeffi',
    'a\ud800b\udc00c',
  ].join(''),
  'one word of ten thousand letters': 'W'.repeat(10_000),
  'emoji, families of them, and other scripts': `${'👩‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿'.repeat(40)} قهوة البيت 茶館 чайхана`,
  nothing: '',
};

/** Faults in a page: replaced letters, elements made from attributes or texts, executed scripts. */
const found = () => {
  const text = document.documentElement.outerHTML;
  const { clientWidth, scrollWidth } = document.documentElement;
  return {
    ran: 'ran' in globalThis,
    elements: document.querySelectorAll('[onerror], [onload], [onfocus], [onclick], img[src="x"], script:not([src])')
      .length,
    broken: [...document.querySelectorAll('h1')].some((heading) => heading.textContent === 'Broken out'),
    harmful: /[\p{Bidi_Control}\u2028\u2029\u2060\ufeff]|(?![\n\t])\p{Cc}|\p{Cs}/u.test(text),
    sideways: scrollWidth > clientWidth,
  };
};

describe('hostile texts in pages', () => {
  for (const [turn, [name, text]] of Object.entries(attacks).entries()) {
    it(`${name}: texts remain texts, in their places`, async () => {
      const pages = samplePages('live', (ours) => (text === '' ? '' : `${text}${ours}`));
      const server: PageServer = await servePages(pages);
      const someone: Visitor = await visitor(server.url(''), { viewport: { width: 320, height: 640 } });
      try {
        // In the gate all pages have the first attack, and every sixth page has each of the others.
        for (const page of gateCases(Object.keys(pages), (_, index) => turn === 0 || index % 6 === turn)) {
          await someone.page.goto(page);
          assert.deepEqual(
            { page, ...(await someone.page.evaluate(found)) },
            { page, ran: false, elements: 0, broken: false, harmful: false, sideways: false },
          );
        }
      } finally {
        await someone.leave();
        await server[Symbol.asyncDispose]();
      }
    });
  }
});
