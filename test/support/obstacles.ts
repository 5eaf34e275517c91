import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type axe from 'axe-core';
import type { Page } from 'playwright-core';

/** The rules whose outcome is another one when the colours are. */
const colourRules = ['color-contrast', 'link-in-text-block'];

const program = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const equipped = new WeakSet<Page>();

/** Adds axe to the page and its later pages. Sending it takes ten times as long as running it: once is enough. */
async function equip(page: Page): Promise<void> {
  if (equipped.has(page)) return;
  equipped.add(page);
  await page.addInitScript(program);
  await page.evaluate(`${program};undefined`);
}

/**
 * Accessibility violations by rule and element.
 * @param which `colours`: for a page that was checked completely before, in other colours
 */
export async function obstacles(page: Page, which: 'all' | 'colours' = 'all'): Promise<readonly string[]> {
  await equip(page);
  const options: axe.RunOptions = {
    resultTypes: ['violations'],
    ...(which === 'colours' && { runOnly: { type: 'rule', values: colourRules } }),
  };
  const { violations } = await page.evaluate(
    (chosen) => (globalThis as unknown as { axe: typeof axe }).axe.run(chosen),
    options,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} ${target}: ${failureSummary}`),
  );
}

/** Elements outside the window, which make a page scroll sideways. */
export const standingOut = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() => {
    const { clientWidth, scrollWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    return [...document.body.querySelectorAll('*')]
      .filter((element) => element.getBoundingClientRect().right > clientWidth + 0.5)
      .map((element) => `${element.tagName} ${element.className}`);
  });

/** Buttons whose words are wider than they are. */
export const cutOff = (page: Page): Promise<readonly string[]> =>
  page
    .locator('button, a.button')
    .evaluateAll((all) =>
      all
        .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
        .map(({ textContent }) => textContent ?? ''),
    );
