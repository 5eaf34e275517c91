/** Questions of newcomers, each answered two clicks from the README: README → docs/README.md → the page with the answer. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { anchorOf } from '../../web/guides/routes.ts';

const root = new URL('../../', import.meta.url);
const map = 'docs/README.md';
const text = (page: string) => readFileSync(new URL(page, root), 'utf8');

/** A sentence of each answer, so that a link to a page without the answer fails. */
const answers: Readonly<Record<string, RegExp>> = {
  'How does it work, in pictures?': /!\[[^\]]+\]\(\.\.\/images\/payment\.svg\)/,
  'Where is the fee computed?': /export function feeOn\(/,
  'How do I rotate the webhook secret?': /Rotate the secret in the dashboard[\s\S]*add the new secret to the receiver/,
  'What do I do if a payer sends too little?': /The payment page asks the customer for the missing amount/,
  'What happens if a node lies?': /return(s)? the same/,
  'How do I restore a backup?': /npm run restore -- \/backups/,
  'What do I do at an alarm?': /^## ServiceDown$/m,
  'Which settings exist?': /^\| `FEE_BASIS_POINTS` \| `10` \|/m,
  'How do I retry a failed payout?': /npm run payouts -- retry/,
  'How do I add a token?': /tokenSymbols/,
  "Can somebody redirect a merchant's money?": /intruder cannot redirect the money/,
};

/** Returns the text under a heading, up to the next heading of its level; without an anchor the whole file. */
function partOf(page: string, anchor: string | undefined): string {
  const whole = text(page);
  if (anchor === undefined) return whole;
  const lines = whole.split('\n');
  const start = lines.findIndex((line) => /^#+ /.test(line) && anchorOf(line.replace(/^#+ /, '')) === anchor);
  const level = /^#+/.exec(lines[start] ?? '')?.[0].length ?? 0;
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => (/^#+(?= )/.exec(line)?.[0].length ?? 7) <= level);
  return rest.slice(0, end === -1 ? rest.length : end).join('\n');
}

describe('questions of newcomers', () => {
  const [, section = ''] = /^## Questions of newcomers$([\s\S]*?)^## /m.exec(text(map)) ?? [];
  const rows = [...section.matchAll(/^\| ([^|]+\?) \| \[[^\]]+\]\(([^)]+)\) \|$/gm)];

  it('are one click from the README', () => {
    assert.ok(text('README.md').includes(`](${map}#questions-of-newcomers)`));
    assert.ok(text('README.md').trimEnd().split('\n').length <= 70, 'README.md has more than 70 lines');
  });

  it('are those that have an answer here, ten at least', () => {
    assert.deepEqual(rows.map(([, question]) => question).sort(), Object.keys(answers).sort());
    assert.ok(rows.length >= 10);
  });

  for (const [question, answer] of Object.entries(answers))
    it(`${question} is answered where the second click leads`, () => {
      const [, , target = ''] = rows.find(([, asked]) => asked === question) ?? [];
      const [path = '', anchor] = target.split('#') as [string, string?];
      const page = new URL(path, new URL(map, root)).pathname.slice(root.pathname.length);
      assert.match(partOf(page, anchor), answer, `${page}#${anchor ?? ''}`);
    });
});
