/** Every page of the dashboard for an app with nothing, with 20 and with 100,000 payments, on a phone, a tablet and a desktop. */
import assert from 'node:assert/strict';
import { type Visitor, visitor } from '../support/chromium.ts';
import { obstacles, standingOut } from '../support/obstacles.ts';
import { sizes, startThreeApps, type ThreeApps } from './threeApps.ts';

const devices = [
  { words: 'on a phone by night', width: 360, colorScheme: 'dark' },
  { words: 'on a tablet by day', width: 820, colorScheme: 'light' },
  { words: 'on a desktop by night', width: 1280, colorScheme: 'dark' },
] as const;

describe('the dashboard of three apps', () => {
  let apps: ThreeApps;
  before(async () => {
    apps = await startThreeApps();
  });
  after(() => apps[Symbol.asyncDispose]());

  for (const { words, width, colorScheme } of devices) {
    describe(words, () => {
      let someone: Visitor;
      before(async () => {
        someone = await visitor(apps.world.url, { viewport: { width, height: 900 }, colorScheme });
        await apps.signIn(someone.page);
      });
      after(() => someone.leave());

      for (const size of sizes)
        it(`shows each page without scrolling sideways, accessible: ${size}`, async () => {
          const { page } = someone;
          const pages = Object.entries(apps.pagesOf(size));
          assert.ok(pages.length > 20, `${pages.length} pages`);
          const faults: string[] = [];
          for (const [name, path] of pages) {
            const answer = await page.goto(path);
            if (answer?.status() !== 200) faults.push(`${name}: ${answer?.status()}`);
            for (const fault of [...(await standingOut(page)), ...(await obstacles(page))])
              faults.push(`${name}: ${fault}`);
          }
          assert.deepEqual(faults, []);
        });
    });
  }
});
