import { type Browser, chromium } from 'playwright-core';

const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** The machine's own Chromium, which asks nothing of the network. */
export async function openChromium(): Promise<{ readonly chromium: Browser } & AsyncDisposable> {
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args });
  return { chromium: browser, [Symbol.asyncDispose]: () => browser.close() };
}
