import assert from 'node:assert/strict';
import { type Visitor, visitor } from '../support/chromium.ts';
import { obstacles, standingOut } from '../support/obstacles.ts';
import { gateCases } from '../support/suite.ts';
import { type PageServer, servePages } from './pageServer.ts';
import { samplePages } from './samplePages.ts';

const pages = samplePages();

const looks = [
  { words: 'by day and wide', colorScheme: 'light', viewport: { width: 1280, height: 900 } },
  { words: 'by night at 320 pixels', colorScheme: 'dark', viewport: { width: 320, height: 640 } },
] as const;

describe('pages in a browser', () => {
  let server: PageServer;
  let someone: Visitor;
  before(async () => {
    server = await servePages(pages);
    someone = await visitor(server.url(''));
  });
  after(async () => {
    await someone.leave();
    await server[Symbol.asyncDispose]();
  });

  for (const [index, name] of Object.keys(pages).entries()) {
    // The gate alternates the looks from page to page.
    const chosen = gateCases(looks, (_, turn) => turn === index % looks.length);
    const words = chosen.map(({ words }) => words).join(', and ');
    it(`${name} can be used by everybody, ${words}, and breaks no rule of its own`, async () => {
      const { page } = someone;
      for (const [nth, { colorScheme, viewport, words }] of chosen.entries()) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize(viewport);
        if (nth === 0) await page.goto(name);
        assert.deepEqual(await obstacles(page), [], words);
        assert.deepEqual(await standingOut(page), [], words);
      }
    });
  }
});
