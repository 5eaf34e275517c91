import assert from 'node:assert/strict';
import { html } from '../../web/parts/html.ts';
import { type Visitor, visitor } from '../support/chromium.ts';
import { obstacles, standingOut } from '../support/obstacles.ts';
import { isFull } from '../support/suite.ts';
import { coveringPages } from './coveringPages.ts';
import { type PageServer, servePages } from './pageServer.ts';
import { samplePages } from './samplePages.ts';

const pages = samplePages();
/** The gate checks pages that together have every kind of element, each in one of the looks. hostile.test.ts loads all pages. */
const inGate = coveringPages(pages);

const looks = [
  { words: 'by day and wide', colorScheme: 'light', viewport: { width: 1280, height: 900 } },
  { words: 'by night at 320 pixels', colorScheme: 'dark', viewport: { width: 320, height: 640 } },
] as const;

for (const [turn, { words, ...options }] of looks.entries()) {
  describe(`pages in a browser, ${words}`, () => {
    let server: PageServer;
    let someone: Visitor;
    before(async () => {
      server = await servePages(pages);
      someone = await visitor(server.url(''), options);
    });
    after(async () => {
      await someone.leave();
      await server[Symbol.asyncDispose]();
    });

    for (const name of isFull ? Object.keys(pages) : inGate.filter((_, index) => index % looks.length === turn)) {
      it(`${name} is accessible and violates no rule of its own`, async () => {
        const { page } = someone;
        await page.goto(name);
        assert.deepEqual(await obstacles(page), []);
        assert.deepEqual(await standingOut(page), []);
      });
    }
  });
}

describe('the pages of the gate', () => {
  it('have every class, role, attribute, parent and order of headings, and none has only other words', () => {
    const pages = {
      plain: html`<main><h1>One</h1><p>Text</p></main>`,
      words: html`<main><h1>Two</h1><p>Other text</p></main>`,
      class: html`<main><h1>One</h1><p class="muted">Text</p></main>`,
      role: html`<main><h1>One</h1><p role="status">Text</p></main>`,
      attribute: html`<main><h1>One</h1><p lang="de">Text</p></main>`,
      parent: html`<section><p>Text</p></section>`,
      headings: html`<main><h1>One</h1><h3>Three</h3></main>`,
      empty: html`<main><h1>One</h1><p>Text<br />more</p><p>Text</p></main>`,
    };
    assert.deepEqual(coveringPages(pages).toSorted(), ['attribute', 'class', 'empty', 'headings', 'parent', 'role']);
  });
});
