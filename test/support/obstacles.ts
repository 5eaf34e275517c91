import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** What people who cannot see, or not well, would stumble over, by rule and element. */
export async function obstacles(page: Page): Promise<readonly string[]> {
  await page.evaluate(`${axe.source};undefined`);
  const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
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
