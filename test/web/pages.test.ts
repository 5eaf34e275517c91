import assert from 'node:assert/strict';
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
