import assert from 'node:assert/strict';
import { type Visitor, visitor } from '../support/chromium.ts';
import { obstacles, standingOut } from '../support/obstacles.ts';
import { type PageServer, servePages } from './pageServer.ts';
import { samplePages } from './samplePages.ts';

const pages = samplePages();

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

  for (const name of Object.keys(pages)) {
    it(`${name} can be used by everybody, by day and by night, wide and at 320 pixels, and breaks no rule of its own`, async () => {
      const { page } = someone;
      await page.emulateMedia({ colorScheme: 'light' });
      await page.setViewportSize({ width: 1280, height: 900 });
      await page.goto(name);
      assert.deepEqual(await obstacles(page), [], 'wide, light');
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.setViewportSize({ width: 320, height: 640 });
      assert.deepEqual(await obstacles(page), [], 'narrow, dark');
      assert.deepEqual(await standingOut(page), []);
    });
  }
});
