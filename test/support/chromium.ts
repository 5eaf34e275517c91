/** A real browser for pages: one Chromium for all specs of a process, and a separate profile per visitor. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { onStop } from './hooks.ts';
import { patience_ms } from './patience.ts';

export interface Visitor {
  readonly page: Page;
  /** Another tab of the same profile. */
  newTab(): Promise<Page>;
  /**
   * Ends the visit.
   * @param expected texts of faults that must occur, such as a browser's messages about a refusal that a rule requires
   * @throws AssertionError if a page violated its own rules: its CSP, an error in a script, a request to another origin
   */
  leave(...expected: readonly RegExp[]): Promise<void>;
}

const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  // A page is left before optimized code repays its compilation: axe costs a quarter less without it.
  '--js-flags=--max-lazy --no-turbofan --no-maglev',
  // Reuses a tab's view for its next page, which makes a page load a third cheaper. Chromium obeys only the last list of features, so
  // this list repeats the two of Playwright.
  '--enable-features=CDPScreenshotNewSurface,SkipListAccountsWithoutGaiaCookies,RenderDocument:level/crashed-frame',
  // Nothing but loopback has an address.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
];

/** Installation paths on Debian, other Linuxes and macOS; the headless shell costs a quarter less. */
const places = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** Returns the path of the installed Chromium. */
export function installed(): string {
  const found = [process.env['CHROMIUM'] ?? [], places].flat().find((path) => existsSync(path));
  return (
    found ??
    assert.fail('pages are tried in Chromium: install it (apt install chromium), or say where it is in CHROMIUM')
  );
}

let started: Promise<Browser> | undefined;

function sharedBrowser(): Promise<Browser> {
  started ??= chromium.launch({ executablePath: installed(), args }).then((browser) => {
    onStop(() => browser.close());
    return browser;
  });
  return started;
}

export interface VisitorOptions extends BrowserContextOptions {
  /** Additional origins that pages may call. */
  readonly besides?: readonly string[];
}

/** A visitor with a fresh profile. @param baseUrl the only origin that pages may call, besides the options' */
export async function visitor(baseUrl: string, { besides = [], ...options }: VisitorOptions = {}): Promise<Visitor> {
  const browser = await sharedBrowser();
  const context = await browser.newContext({ baseURL: baseUrl, ...options });
  const faults: string[] = [];
  const origins = [new URL(baseUrl).origin, ...besides];
  context.setDefaultTimeout(patience_ms);
  context.on('request', (request) => {
    const url = new URL(request.url());
    if (!origins.includes(url.origin) && !['data:', 'blob:'].includes(url.protocol))
      faults.push(`a request to ${request.url()}`);
  });
  context.on('console', (message) => {
    if (/content security policy/i.test(message.text())) faults.push(message.text());
  });
  context.on('weberror', (error) => faults.push(String(error.error())));
  return {
    page: await context.newPage(),
    newTab: () => context.newPage(),
    async leave(...expected) {
      await context.close();
      for (const what of expected)
        assert.ok(
          faults.some((fault) => what.test(fault)),
          `${what} in ${faults.join('\n')}`,
        );
      const others = faults.filter((fault) => !expected.some((what) => what.test(fault)));
      assert.deepEqual(others, [], 'pages break no rule of their own');
    },
  };
}
