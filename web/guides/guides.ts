/** The guides beside the API reference: Markdown of ours, rendered at its first reader. */
import { readFileSync } from 'node:fs';
import { Marked, type Tokens } from 'marked';
import { documentOf } from '../parts/html.ts';
import { guidePage } from './page.ts';

/** In the order in which they are read. */
export const guideNames = [
  'five-minutes',
  'statuses',
  'wrong-money',
  'webhooks-or-feed',
  'testing',
  'go-live',
] as const;
export type GuideName = (typeof guideNames)[number];

export const guidesPath = '/docs/guides';
const folder = new URL('./', import.meta.url);

/** @returns the Markdown as it stands */
export const readGuide = (name: GuideName): string => readFileSync(new URL(`${name}.md`, folder), 'utf8');

const titleOf = (markdown: string): string => /^# (.+)$/m.exec(markdown)?.[1] ?? '';

/** As Markdown hosts make them from headings, so that a link to one leads there as well. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const marked = new Marked({
  renderer: {
    heading({ tokens, depth, text }: Tokens.Heading) {
      return `<h${depth} id="${anchorOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
    link({ href, tokens }: Tokens.Link) {
      const to = href.replace(/^([a-z-]+)\.md(?=#|$)/, `${guidesPath}/$1`);
      return `<a href="${to}">${this.parser.parseInline(tokens)}</a>`;
    },
  },
});

/** @returns a whole document */
export function renderGuide(name: GuideName): string {
  const markdown = readGuide(name);
  const guides = guideNames.map((each) => ({
    href: `${guidesPath}/${each}`,
    title: titleOf(readGuide(each)),
    isHere: each === name,
  }));
  return documentOf(guidePage({ title: titleOf(markdown), guides, article: marked.parse(markdown, { async: false }) }));
}
