/** An open payment page agrees with the server: through sleep, broken connections, refused streams, and any time of the visitor's clock. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { VNode } from 'preact';
import { troublePage } from '../../web/pay/layout.ts';
import { payPage } from '../../web/pay/page.ts';
import { visitor } from '../support/chromium.ts';
import * as p from '../support/payments.ts';
import { type Lines, type PageServer, servePages } from './pageServer.ts';
import { payModel, payPages, stories } from './samples/payPages.ts';
import { until } from './walletVisits.ts';

interface Looking {
  readonly page: Page;
  readonly server: PageServer;
  readonly lines: Lines;
  /** Changes the server's page without a notification. */
  happens(next: VNode): void;
}

const waiting = payModel(stories.waiting, 'en');
const detected = payPage(payModel(stories.detected, 'en'));
/** The payment has 15 minutes left; its times are of the server's clock. */
const waitingAt = (minutes: number) => payPage(payModel({ ...stories.waiting, at: p.minute(minutes) }, 'en'));

const seen = (page: Page) => page.getByRole('heading', { name: 'Payment detected' });
const left = (page: Page) => page.getByRole('timer').textContent();

/** @param time of the visitor's clock, which only the spec advances */
async function looking(look: (at: Looking) => Promise<void>, more: Partial<Lines> = {}, time: string = p.minute(45)) {
  const pages: Record<string, VNode> = { pay: waitingAt(45) };
  const lines: Lines = { asked: 0, greeting: waiting.facts.version, ...more };
  await using server = await servePages(pages, lines);
  const { page, leave } = await visitor(server.url(''));
  await page.clock.install({ time: Date.parse(time) - 1_000 });
  await page.clock.pauseAt(Date.parse(time));
  await page.goto('pay');
  await page
    .getByRole('timer')
    .getByText(/^15:00 left$/)
    .waitFor();
  const happens = (next: VNode) => {
    pages['pay'] = next;
  };
  await look({ page, server, lines, happens });
  await leave();
}

describe('an open page of a payment', () => {
  it('counts down by the server’s clock, whatever the visitor’s own clock shows', async () => {
    for (const time of ['1999-12-31T23:59:59Z', '2031-01-01T00:00:00Z']) {
      await looking(
        async ({ page, server, happens }) => {
          await page.clock.runFor(61_000);
          assert.equal(await left(page), '13:59 left');
          await server.listened();
          happens(waitingAt(50));
          server.tell();
          await page
            .getByRole('timer')
            .getByText(/^10:00 left$/)
            .waitFor();
        },
        {},
        time,
      );
    }
  });

  it('reloads when the time is over', () =>
    looking(async ({ page, happens }) => {
      happens(payPage(payModel(stories.timeUp, 'en')));
      await page.clock.runFor(15 * 60_000);
      await page.getByRole('heading', { name: 'The time to pay is over' }).waitFor();
    }));

  it('is right as soon as a sleeping laptop wakes up, over a new stream', () =>
    looking(async ({ page, server, lines, happens }) => {
      await server.listened();
      happens(detected);
      await page.clock.fastForward(2 * 60 * 60_000);
      await seen(page).waitFor();
      await until(() => lines.asked === 2);
    }));

  it('is right after its clock was set back', () =>
    looking(async ({ page, server, happens }) => {
      await server.listened();
      happens(waitingAt(50));
      await page.clock.setSystemTime('2026-01-01T00:00:00Z');
      await page.clock.runFor(1_000);
      await page
        .getByRole('timer')
        .getByText(/^10:00 left$/)
        .waitFor();
    }));

  it('reconnects without help when the stream breaks, and learns the missed news', () =>
    looking(async ({ page, server, lines, happens }) => {
      await server.listened();
      happens(detected);
      lines.greeting = 'another version';
      server.cut();
      await seen(page).waitFor();
      assert.equal(lines.asked, 2);
    }));

  it('reads nothing again for a stream that broke and returned without news', () =>
    looking(async ({ page, server, lines }) => {
      await server.listened();
      // The page may learn the answer of its first stream only now.
      const back = page.waitForResponse((answer) => answer.url().endsWith('/live') && lines.asked === 2);
      server.cut();
      await back;
      await page.clock.runFor(1_000);
      assert.equal(lines.asked, 2);
      assert.deepEqual(server.asked, ['GET pay']);
    }));

  it('reads again after a failed read, until it has the last news', () =>
    looking(async ({ page, server, lines, happens }) => {
      await server.listened();
      happens(detected);
      lines.failing = [503, 0, 429];
      server.tell();
      while (!(await seen(page).isVisible())) await page.clock.runFor(1_000);
      assert.equal(lines.asked, 1);
      assert.deepEqual(server.asked, Array<string>(5).fill('GET pay'));
    }));

  it('polls if no stream is given, and requests one each minute', () =>
    looking(
      async ({ page, lines, happens }) => {
        await page.clock.runFor(4_000);
        happens(detected);
        await page.clock.runFor(3_000);
        await seen(page).waitFor();
        delete lines.refused;
        lines.greeting = 'another version';
        happens(payPage(payModel(stories.paid, 'en')));
        const line = page.waitForResponse(/\/live$/);
        await page.clock.runFor(61_000);
        await line;
        await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor();
        assert.equal(lines.asked, 2);
      },
      { refused: 503 },
    ));

  it('requests nothing while it is hidden, and is right when it is visible again', () =>
    looking(
      async ({ page, server, happens }) => {
        await hide(page, true);
        happens(detected);
        await page.clock.runFor(10 * 60_000);
        assert.deepEqual(server.asked, ['GET pay']);
        await hide(page, false);
        await seen(page).waitFor();
      },
      { refused: 503 },
    ));
});

describe('a page of a payment that could not be shown', () => {
  it('is requested until the service answers, with growing pauses, and loads then', async () => {
    const trouble = troublePage(waiting, 'trouble', { requestId: 'request-1', again_s: 5 });
    const pages: Record<string, VNode> = { pay: trouble };
    const lines: Lines = { asked: 0 };
    await using server = await servePages(pages, lines);
    const { page, leave } = await visitor(server.url(''));
    await page.clock.install({ time: Date.parse(p.minute(45)) - 1_000 });
    await page.clock.pauseAt(Date.parse(p.minute(45)));
    // As after the skip link: a browser only scrolls to an equal address with a fragment.
    await page.goto('pay#main');
    pages['pay'] = waitingAt(45);
    lines.failing = [503, 429, 500];
    const due = page.getByRole('timer');
    let passed_s = 0;
    for (; !(await due.isVisible()); passed_s += 1) await page.clock.runFor(1_000);
    // After 5, 10, 20 and 40 s; the page loads after the fourth.
    assert.deepEqual(server.asked, Array<string>(6).fill('GET pay'));
    assert.ok(passed_s >= 75, `${passed_s} s`);
    await leave();
  });
});

/** Hides the page like another tab in front of it. */
const hide = (page: Page, hidden: boolean): Promise<void> =>
  page.evaluate((isHidden) => {
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => isHidden });
    document.dispatchEvent(new Event('visibilitychange'));
  }, hidden);

/** A browser wallet in the page: its requests and answers. */
const injectWallet = (page: Page, account: string, signature: string) =>
  page.addInitScript(
    ([own, signed]) => {
      const asked: unknown[] = [];
      const request = async ({ method, params }: { method: string; params?: unknown }) => {
        asked.push([method, params]);
        return method === 'personal_sign' ? signed : [own];
      };
      Object.assign(window, { ethereum: { request }, asked });
    },
    [account, signature] as const,
  );

describe('the text that a payer signs for their refund', () => {
  const pages = payPages('en');
  const button = (page: Page) => page.getByRole('button', { name: 'Sign with your wallet' });
  const { sender, text } = p.signedAddress(p.merchantWallet);

  async function signing(wallet: string | null, look: (page: Page, server: PageServer) => Promise<void>) {
    await using server = await servePages({ ...pages });
    const { page, leave } = await visitor(server.url(''));
    if (wallet !== null) await injectWallet(page, wallet, '0x5161');
    await page.goto('refundSigned');
    await look(page, server);
    await leave();
  }

  it('is signed by a wallet that is injected without announcing itself, and sent', async () => {
    await signing(sender.toLowerCase(), async (page) => {
      const sent = page.waitForRequest((request) => request.method() === 'POST');
      await button(page).click();
      assert.match((await sent).postData() ?? '', /signature=0x5161/);
      const [accounts, signed] = (await page.evaluate('window.asked')) as readonly (readonly unknown[])[];
      assert.equal(accounts?.[0], 'eth_requestAccounts');
      assert.deepEqual(signed, ['personal_sign', [`0x${Buffer.from(text).toString('hex')}`, sender]]);
    });
  });

  it('is left to be pasted if the wallet has another account, or there is none', async () => {
    await signing(p.merchantWallet, async (page, server) => {
      await button(page).click();
      await page.locator('.told-wallet').getByText('The wallet did not sign').waitFor();
      assert.equal(
        server.asked.some((each) => each.startsWith('POST')),
        false,
      );
    });
    await signing(null, async (page) => assert.equal(await button(page).isVisible(), false));
  });
});
