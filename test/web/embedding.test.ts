/** Payment pages in a frame on merchants' sites, in a browser: permitted and refused sites, and the messages to both sides. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Frame, Page, Route } from 'playwright-core';
import sharp from 'sharp';
import { snippetFor } from '../../web/dashboard/embedding.ts';
import { goodRequest, startWorld, type World } from '../api/world.ts';
import { type Visitor, visitor } from '../support/chromium.ts';

/** The snippet that merchants copy. */
const snippet =
  /```html\n([\s\S]*?)```/.exec(
    readFileSync(new URL('../../docs/integrate/embedding.md', import.meta.url), 'utf8'),
  )?.[1] ?? '';

const shop = 'https://shop.test';
const german = 'https://xn--tehaus-bua.test';
/** Origins that resemble the merchant's site but are others. */
const strangers = [
  'https://shop.test.evil.test',
  'https://evil.shop.test',
  'https://evilshop.test',
  'https://shop.test:8443',
  'http://localhost:4010',
  'http://127.0.0.1:4010',
  'https://xn--shp-tna.test',
];

/** Browsers treat the invented sites as remote and the service as local, and protect local servers from remote sites. */
const local = { permissions: ['local-network-access'] };
const passedOn = 'allow="local-network-access *"';

/** By origin, the one page of each site. */
type Sites = Readonly<Record<string, string>>;

describe('a payment in a frame', () => {
  let world: World;
  let link: string;
  before(async () => {
    world = await startWorld({ embeddingSites: async () => [shop, german] });
    const { body } = await world.call('POST', '/payment-api/payments', {
      headers: world.keys.wallet,
      body: goodRequest(),
    });
    link = body.paymentLink;
  });
  after(() => world.stop());

  const withScript =
    () => `<!doctype html><title>Shop</title><meta name="viewport" content="width=device-width"><p><a href="#other">Other</a></p>
    ${snippet.replace('https://pay.example/pay/…', link).replace('https://pay.example', world.url).replace('<a ', '<a id="pay" ')}
    <script>heard = []; for (const name of ['payment', 'paymentclose'])
      document.addEventListener(name, ({ type, target, detail }) => heard.push([type, target.id, detail?.standing ?? null]))</script>`;
  const withFrame = (src = link) => `<!doctype html><title>Frame</title><iframe ${passedOn} src="${src}"></iframe>`;

  async function routeSites(page: Page, sites: Sites): Promise<void> {
    for (const [origin, body] of Object.entries(sites)) {
      await page
        .context()
        .route(`${origin}/**`, (route) => route.fulfill({ contentType: 'text/html; charset=utf-8', body }));
    }
  }

  /** A visitor of invented sites. */
  async function at(sites: Sites): Promise<Visitor> {
    const someone = await visitor(world.url, { ...local, besides: Object.keys(sites) });
    await routeSites(someone.page, sites);
    return someone;
  }

  /**
   * One visitor for all tests of a `describe`, whose browser starts the processes of the sites once.
   * @returns replaces the sites and returns the visitor's tab
   */
  function sharedVisitor(origins: readonly string[], ...expected: readonly RegExp[]) {
    let someone: Visitor;
    before(async () => {
      someone = await visitor(world.url, { ...local, besides: origins });
    });
    after(() => someone.leave(...expected));
    return async (sites: Sites): Promise<Page> => {
      await someone.page.context().unrouteAll();
      await routeSites(someone.page, sites);
      return someone.page;
    };
  }

  const payFrame = (page: Page): Frame | undefined => page.frames().find((frame) => frame.url() === link);
  const refused = /frame-ancestors/;
  /** True if any frame of the page contains the heading of the payment. */
  const shown = async (page: Page): Promise<boolean> => {
    const counts = await Promise.all(page.frames().map((frame) => frame.getByText('Waiting for your payment').count()));
    return counts.some((count) => count > 0);
  };
  /** Opens a site, whose frame the browser refuses to fill. */
  async function openRefused(page: Page, url: string, inFrame = false): Promise<void> {
    const told = page.waitForEvent('console', (message) => refused.test(message.text()));
    await page.goto(url);
    if (inFrame) await page.frameLocator('iframe').locator('iframe').waitFor();
    await page.waitForFunction(() => document.readyState === 'complete');
    await told;
    assert.equal(await shown(page), false);
    assert.ok(page.frames().some((frame) => frame.url().startsWith('chrome-error:')));
  }

  describe('is refused by browsers', () => {
    const evil = 'https://evil.test';
    const visit = sharedVisitor([...strangers, shop, evil], refused);

    for (const stranger of strangers) {
      it(`to ${stranger}`, async () => {
        const page = await visit({ [stranger]: withFrame() });
        await openRefused(page, `${stranger}/`);
      });
    }

    it('to a stranger’s page around the merchant’s own', async () => {
      const page = await visit({ [shop]: withFrame(), [evil]: withFrame(`${shop}/`) });
      await openRefused(page, `${evil}/`, true);
    });

    it('to a page without an origin, though it is the merchant’s: null is no site', async () => {
      const inside = withFrame().replaceAll('"', '&quot;');
      const outer = `<!doctype html><iframe ${passedOn} sandbox="allow-scripts" srcdoc="${inside}"></iframe>`;
      await openRefused(await visit({ [shop]: outer }), `${shop}/`, true);
    });

    it('and the dashboard, to everybody', async () => {
      const page = await visit({ [shop]: withFrame(`${world.url}/dashboard/sign-in`) });
      await openRefused(page, `${shop}/`);
    });
  });

  describe('opened by a link', () => {
    it('as the docs and the dashboard show it', () => assert.equal(snippet.trim(), snippetFor('https://pay.example')));

    const visit = sharedVisitor([shop, german]);
    const opened = async (page: Page, site = shop): Promise<Page> => {
      await page.goto(`${site}/`);
      await page.getByRole('link', { name: 'Pay with stablecoins' }).click();
      await page.frameLocator('dialog iframe').getByText('Waiting for your payment').waitFor();
      return page;
    };
    const pressEscape = async (page: Page): Promise<void> => {
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    };
    const heard = (page: Page) => page.evaluate(() => (globalThis as unknown as { heard: unknown[] }).heard);
    const untilHeard = (page: Page, count: number) =>
      page.waitForFunction(
        (expected) => (globalThis as unknown as { heard: unknown[] }).heard.length === expected,
        count,
      );

    for (const site of [shop, german]) {
      it(`shows it on ${site}, and notifies the page of its status`, async () => {
        const page = await opened(await visit({ [site]: withScript() }), site);
        await page.waitForFunction(() => (globalThis as unknown as { heard: unknown[] }).heard.length > 0);
        assert.deepEqual(await heard(page), [['payment', 'pay', 'waiting']]);
        assert.equal(page.url(), `${site}/`);
      });
    }

    it('is a dialog with its name; Escape closes it, also from within the frame, and the focus returns', async () => {
      const page = await opened(await visit({ [shop]: withScript() }));
      await page.getByRole('dialog', { name: 'Pay with stablecoins' }).waitFor();
      await page.waitForFunction(() => document.activeElement?.tagName === 'IFRAME');
      await payFrame(page)?.getByRole('link', { name: 'Open in wallet' }).focus();
      await page.waitForFunction(() => (globalThis as unknown as { heard: unknown[] }).heard.length > 0);
      await pressEscape(page);
      assert.equal(await page.evaluate(() => document.activeElement?.id), 'pay');
      assert.deepEqual((await heard(page)).at(-1), ['paymentclose', 'pay', null]);
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Close' }).focus();
      await pressEscape(page);
      assert.equal(await page.evaluate(() => document.activeElement?.id), 'pay');
    });

    it('closes by Escape while its page is still loading', async () => {
      const page = await visit({ [shop]: withScript() });
      const held: Route[] = [];
      await page.context().route(link, (route) => {
        held.push(route);
      });
      await page.goto(`${shop}/`);
      await page.getByRole('link', { name: 'Pay with stablecoins' }).click();
      await page.getByRole('status', { name: 'Loading' }).waitFor();
      await pressEscape(page);
      assert.equal(await page.evaluate(() => document.activeElement?.id), 'pay');
      await page.context().unroute(link);
      await Promise.all(held.map((route) => route.abort()));
    });

    for (const colorScheme of ['light', 'dark'] as const)
      it(`turns a wheel from the first moment until the page is there, ${colorScheme} as the payer’s system is`, async () => {
        const page = await visit({ [shop]: withScript() });
        await page.emulateMedia({ colorScheme });
        const released = Promise.withResolvers<void>();
        await page.context().route(link, async (route) => {
          await released.promise;
          await route.continue();
        });
        await page.goto(`${shop}/`);
        await page.getByRole('link', { name: 'Pay with stablecoins' }).click();
        const wheel = page.getByRole('status', { name: 'Loading' });
        await wheel.waitFor();
        const dialog = page.getByRole('dialog');
        assert.equal(await dialog.evaluate((each) => each.getAnimations({ subtree: true }).length), 1);
        const { channels } = await sharp(await dialog.screenshot()).stats();
        const brightness = channels.slice(0, 3).reduce((sum, { mean }) => sum + mean / 3, 0);
        assert.ok(colorScheme === 'light' ? brightness > 200 : brightness < 60, `${brightness}`);
        released.resolve();
        await wheel.waitFor({ state: 'detached' });
        await page.frameLocator('dialog iframe').getByText('Waiting for your payment').waitFor();
        await page.emulateMedia({ colorScheme: null });
      });

    it('leads to a separate window, where browser wallets are', async () => {
      const page = await opened(await visit({ [shop]: withScript() }));
      const opening = page.context().waitForEvent('page');
      await page.getByRole('link', { name: 'Open in a window' }).click();
      const tab = await opening;
      await tab.waitForURL(link);
      assert.equal(await tab.evaluate(() => globalThis.opener), null);
      await tab.close();
      assert.equal(await page.getByRole('dialog').count(), 1);
    });

    it('closes by its button, and opens again', async () => {
      const page = await opened(await visit({ [shop]: withScript() }));
      await page.getByRole('button', { name: 'Close' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.getByRole('link', { name: 'Pay with stablecoins' }).click();
      await page.frameLocator('dialog iframe').getByText('Waiting for your payment').waitFor();
    });

    describe('lets the payer choose the source, in the frame', () => {
      let choice: string;
      before(async () => {
        const payFrom = [
          { chainId: '137', tokenSymbol: 'USDC' },
          { chainId: '1500', tokenSymbol: 'USDC' },
        ];
        const { body } = await world.call('POST', '/payment-api/payments', {
          headers: world.keys.wallet,
          body: goodRequest({ payFrom }),
        });
        choice = body.paymentLink;
      });
      const choose = async (page: Page, chain: string) => {
        const frame = page.frameLocator('dialog iframe');
        await frame.getByRole('button', { name: `${chain} USDC` }).click();
        await frame.getByText(`on ${chain}`).first().waitFor();
      };

      it('and notifies the page of its status after that as well', async () => {
        const page = await opened(await visit({ [shop]: withScript().replace(link, choice) }));
        await untilHeard(page, 1);
        await choose(page, 'Stellar');
        await untilHeard(page, 2);
        assert.equal(page.url(), `${shop}/`);
      });

      it('and notifies it for the first time then, if its page could not answer earlier', async () => {
        const page = await visit({ [shop]: withScript().replace(link, choice) });
        const held: Route[] = [];
        await page.context().route('**/framed*.js', async (route) => {
          if (held.push(route) > 1) await route.continue();
        });
        await opened(page);
        await choose(page, 'Polygon');
        await untilHeard(page, 1);
        assert.equal(page.url(), `${shop}/`);
      });
    });

    it('fits into a telephone', async () => {
      const someone = await at({ [shop]: withScript() });
      await someone.page.setViewportSize({ width: 320, height: 560 });
      const page = await opened(someone.page);
      const box = await page.getByRole('dialog').boundingBox();
      assert.deepEqual([box?.x, box?.y, box?.width, box?.height], [0, 0, 320, 560]);
      const sideways = await payFrame(page)?.evaluate(
        () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
      );
      assert.equal(sideways, false);
      await someone.leave();
    });

    it('works under a strict policy of the merchant’s own', async () => {
      const page = await visit({});
      const policy = `default-src 'none'; script-src ${world.url}; frame-src ${world.url}`;
      await page.context().route(`${shop}/**`, (route) =>
        route.fulfill({
          contentType: 'text/html',
          headers: { 'Content-Security-Policy': policy },
          body: withScript().replace(/<script>.*<\/script>/s, ''),
        }),
      );
      await opened(page);
    });

    it('leads to the page itself if the frame is refused', async () => {
      const evil = 'https://evil.test';
      const someone = await at({ [evil]: withScript() });
      const { page } = someone;
      await page.goto(`${evil}/`);
      await page.getByRole('link', { name: 'Pay with stablecoins' }).click();
      await page.waitForURL(link);
      await page.getByText('Waiting for your payment').waitFor();
      await someone.leave(refused);
    });

    it('is an ordinary link without scripts, and in a new tab', async () => {
      const page = await visit({ [shop]: withScript() });
      await page.goto(`${shop}/`);
      const opening = page.context().waitForEvent('page');
      await page.getByRole('link', { name: 'Pay with stablecoins' }).click({ modifiers: ['ControlOrMeta'] });
      const tab = await opening;
      await tab.waitForURL(link);
      await tab.close();
      assert.equal(await page.getByRole('dialog').count(), 0);
    });

    it('is ignored when it leads elsewhere', async () => {
      const elsewhere = withScript().replace(`href="${link}"`, 'href="https://evil.test/pay/x"');
      const someone = await at({ [shop]: elsewhere, 'https://evil.test': 'elsewhere' });
      await someone.page.goto(`${shop}/`);
      await someone.page.getByRole('link', { name: 'Pay with stablecoins' }).click();
      await someone.page.waitForURL('https://evil.test/pay/x');
      await someone.leave();
    });
  });

  describe('and forged messages', () => {
    const forged = { payment: 'standing', standing: 'completed' };
    const settle = (page: Page) => page.evaluate(() => new Promise((seen) => setTimeout(seen)));

    it('notify the merchant’s page of nothing: from itself, from a stranger’s frame, from another page of the service', async () => {
      const evil = 'https://evil.test';
      const someone = await at({
        [shop]: `${withScript()}<iframe id="evil" src="${evil}/"></iframe><iframe id="twin" src="${link}"></iframe>`,
        [evil]: '<!doctype html><title>Evil</title>',
      });
      const { page } = someone;
      await page.goto(`${shop}/`);
      await page.getByRole('link', { name: 'Pay with stablecoins' }).click();
      await page.waitForFunction(() => (globalThis as unknown as { heard: unknown[] }).heard.length === 1);
      const say = (message: unknown) => window.parent.postMessage(message, '*');
      for (const frame of page.frames()) {
        const own =
          frame.parentFrame() !== null &&
          (await (await frame.frameElement()).evaluate((each) => (each as Element).closest('dialog') !== null));
        if (own) continue;
        for (const message of [forged, { payment: 'close' }, null, 'close', { payment: { toString: 1 } }])
          await frame.evaluate(say, message);
      }
      await settle(page);
      assert.deepEqual(await page.evaluate(() => (globalThis as unknown as { heard: unknown[] }).heard), [
        ['payment', 'pay', 'waiting'],
      ]);
      assert.equal(await page.getByRole('dialog').count(), 1);
      await someone.leave();
    });

    it('get nothing from the payment’s page: in a window, from a frame beside it, in another shape', async () => {
      const evil = 'https://evil.test';
      const listening = `<script>got = []; addEventListener('message', ({ data }) => got.push(data))</script>`;
      const someone = await at({
        [evil]: `<!doctype html><title>Evil</title>${listening}<button onclick="opened = window.open('${link}')">Open</button>`,
        [shop]: `<!doctype html><title>Shop</title>${listening}<iframe id="pay" src="${link}"></iframe><iframe id="evil" src="${evil}/"></iframe>`,
      });
      const { page } = someone;
      const got = (of: Page | Frame) => of.evaluate(() => (globalThis as unknown as { got: unknown[] }).got);

      await page.goto(`${evil}/`);
      const opened = page.waitForEvent('popup');
      await page.getByRole('button', { name: 'Open' }).click();
      const popup = await opened;
      await popup.getByText('Waiting for your payment').waitFor();
      await page.evaluate(() =>
        (globalThis as unknown as { opened: Window }).opened?.postMessage({ payment: 'hello' }, '*'),
      );
      await settle(popup);
      assert.deepEqual(await got(page), []);

      await page.goto(`${shop}/`);
      const beside = page.frames().find((frame) => frame.url() === `${evil}/`);
      await page.frameLocator('#pay').getByText('Waiting for your payment').waitFor();
      await beside?.evaluate(() => window.parent.frames[0]?.postMessage({ payment: 'hello' }, '*'));
      for (const odd of [null, 'hello', { payment: 'standing' }, { hello: 1 }])
        await page.evaluate((message) => window.frames[0]?.postMessage(message, '*'), odd);
      await settle(page);
      assert.deepEqual([await got(page), await (beside && got(beside))], [[], []]);
      await page.evaluate(() => window.frames[0]?.postMessage({ payment: 'hello' }, '*'));
      await page.waitForFunction(() => (globalThis as unknown as { got: unknown[] }).got.length > 0);
      assert.deepEqual(await got(page), [{ payment: 'standing', standing: 'waiting' }]);
      await someone.leave();
    });
  });
});
