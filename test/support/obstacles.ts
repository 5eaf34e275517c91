import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** The rules whose outcome is another one when the colours are. */
const colourRules = ['color-contrast', 'link-in-text-block'];

/**
 * What people who cannot see, or not well, would stumble over, by rule and element.
 * @param which `colours`: of a page that was looked at whole before, in other colours
 */
export async function obstacles(page: Page, which: 'all' | 'colours' = 'all'): Promise<readonly string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(`${axe.source};undefined`);
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

/** Elements that stand out of the window: what makes a page scroll sideways. */
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
