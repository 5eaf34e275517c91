/** Words of the documentation: the rules of docs/contribute/writing.md that a program can check. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

const root = new URL('../../', import.meta.url);
const text = (page: string) => readFileSync(new URL(page, root), 'utf8');

const pages = [
  'README.md',
  ...readdirSync(new URL('docs/', root), { encoding: 'utf8', recursive: true })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`)
    .sort(),
];

/** False for decisions, the map and the front pages, which have another form. */
const hasReader = (page: string): boolean => !/^(README|CONTRIBUTING)\.md$|\/decisions\//.test(page);

export const cellMax = 300;

/** Removes code blocks and comments from a page. */
const proseOf = (markdown: string): string =>
  markdown.replace(/^```[\s\S]*?^```/gm, '').replace(/<!--[\s\S]*?-->/g, '');

/** Paragraphs, list items and cells without Markdown marks. */
function sentencesOf(markdown: string): readonly string[] {
  const blocks: string[] = [];
  // A heading or a link's label may be a noun clause: "What it omits".
  for (const block of proseOf(markdown)
    .replace(/^#+ .*$/gm, '')
    .split(/\n{2,}/)) {
    if (/^\|/m.test(block)) blocks.push(...cellsOf(block));
    else blocks.push(...block.split(/\n(?=\s*(?:[-*]|\d+\.)\s)/));
  }
  return blocks
    .map((block) => block.replace(/^\s*(?:#+|[-*]|\d+\.|>)\s+/, '').replace(/\s+/g, ' '))
    .map((block) =>
      block
        .replace(/`[^`]*`/g, 'CODE')
        .replace(/"[^"]*"/g, 'QUOTE')
        .replace(/!?\[[^\]]*\]\([^)]*\)/g, 'Link'),
    )
    .map((block) => block.replace(/\*\*|\*|_(?=\w)|(?<=\w)_/g, ''))
    .flatMap((block) => block.split(/(?<=[.!?]\)?) (?=[A-Z"“(])/))
    .map((sentence) => sentence.trim())
    .filter(Boolean);
}

const cellsOf = (block: string): readonly string[] =>
  block
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^\|[\s:|-]+\|$/.test(line))
    .flatMap((line) => line.split(/(?<!\\)\|/).slice(1, -1))
    .map((cell) => cell.trim());

/** A clause as subject: "What fails is tried again". Questions, and link labels such as "What a shop must check", do not match. */
const clauseFirst =
  /^(?:What|Whatever|Who|Whoever|Whose|Whom|Whichever|Of (?:what|whom|which|the|a|an|all|two|several|each|every|these|those|payments|every)|That (?:which|a|the|it|an|what|who))\b(?!.*\?$)/;

/** Words of a private dialect, with the word to use. Contains only forms without another meaning in these pages. */
const dialect: readonly (readonly [word: RegExp, instead: string])[] = [
  [/\b(is|are|was|were|be) told\b/i, 'notify, report, return'],
  [/\btells? of\b/i, 'report'],
  [/\breckon(s|ed|ing)?\b/i, 'compute'],
  [/\bmend(s|ed|ing)?\b/i, 'fix'],
  [/\bby (itself|themselves)\b/i, 'automatically, alone'],
  [/\bso (many|often|long|much) at most\b|\bas many as\b|\bnow and then\b/i, 'the number and its unit'],
  [/\bwhoever\b|\bwhosoever\b/i, 'the person or program that is meant'],
  [/\bgone? back on\b/i, 'roll back'],
  [/\bmade up\b/i, 'forged, fabricated'],
  [/\b(made|make|makes|read|written|signed) (it )?anew\b/i, 'regenerate, again'],
  [/\bnobody(’|')s money\b|\bmoney that is nobody/i, 'unmatched funds'],
  [/\bsent back\b|\bway back\b/i, 'refund'],
  [/\bleft out\b/i, 'omitted'],
  [/\bstood\b/i, 'was, remained'],
  [/\bthereof\b|\bwherever\b/i, 'a plain word'],
  [/\bin (its|their|his) turn\b/i, 'then'],
  [/\b(he|him|himself)\b/i, 'they'],
];

/** Faults of a page, each with its place. */
export function faultsOf(page: string, markdown: string): readonly string[] {
  const faults: string[] = [];
  for (const sentence of sentencesOf(markdown)) {
    if (clauseFirst.test(sentence)) faults.push(`begins with a clause: ${sentence.slice(0, 90)}`);
    for (const [word, instead] of dialect)
      if (word.test(sentence))
        faults.push(`write "${instead}": ${word.exec(sentence)?.[0]} in ${sentence.slice(0, 90)}`);
  }
  for (const [, label = '', target = ''] of proseOf(markdown).matchAll(/\[([^\]]*)\]\(([^)\s]+)\)/g)) {
    const [path = ''] = target.split('#');
    if (/\.(md|ts)$/.test(label) && path !== '' && basename(path) !== basename(label.replaceAll('`', '')))
      faults.push(`the label ${label} names another file than ${target}`);
  }
  for (const cell of cellsOf(proseOf(markdown)))
    if (cell.length > cellMax) faults.push(`a cell has ${cell.length} characters: ${cell.slice(0, 60)}`);
  if (hasReader(page)) {
    const [, first = ''] = /^# .+\n+([^\n]*)/.exec(markdown) ?? [];
    if (!/^For [^.:]{5,}[:.]? ?/.test(first))
      faults.push(`the first line does not begin with "For <reader>: <purpose>": ${first.slice(0, 60)}`);
  }
  return faults;
}

describe('the words of the documentation', () => {
  for (const page of pages)
    it(`${page} follows docs/contribute/writing.md`, () => {
      const faults = faultsOf(page, text(page));
      assert.deepEqual(faults, []);
    });

  it('refuses a page without a reader, clauses as subjects, dialect, wrong labels and long cells', () => {
    const ok = '# Title\n\nFor operators: the purpose.\n\n';
    const faults = (rest: string) => faultsOf('docs/a.md', ok + rest);
    assert.deepEqual(
      faults(
        'The worker retries the payout. See [refunds.md](../integrate/refunds.md#api).\n\n| a | b |\n|---|---|\n| c | `d` |',
      ),
      [],
    );
    assert.deepEqual(faults('```\nWhat is told by itself\n```\n'), []);
    assert.match(faultsOf('docs/a.md', '# Title\n\nThis page is short.\n')[0] ?? '', /first line/);
    assert.match(faults('What fails is tried again.')[0] ?? '', /begins with a clause/);
    assert.match(faults('A sentence. Whoever asks gets 404.')[0] ?? '', /begins with a clause/);
    assert.match(faults('- Of two who append, one is refused.')[0] ?? '', /begins with a clause/);
    assert.deepEqual(faults('What do I do? Read on.'), []);
    assert.match(faults('The page polls by\nitself.')[0] ?? '', /automatically/);
    assert.match(faults('| a |\n|---|\n| The merchant is told. |')[0] ?? '', /notify/);
    assert.match(faults('See [orders.md](refunds.md).')[0] ?? '', /another file/);
    assert.match(faults(`| a |\n|---|\n| ${'x'.repeat(301)} |`)[0] ?? '', /301 characters/);
  });
});
