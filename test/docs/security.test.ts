/** docs/explain/security.md numbers its threats, and docs/audit/threat-specs.md names code and specs for each number. All of them exist under these names. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { titlesIn } from '../house/wordRules.ts';

const threats = new URL('../../docs/explain/security.md', import.meta.url);
const proofs = new URL('../../docs/audit/threat-specs.md', import.meta.url);

interface Link {
  readonly label: string;
  readonly target: string;
}

const linksIn = (markdown: string): readonly Link[] =>
  [...markdown.matchAll(/\[([^\]]+)\]\(([^)\s]+)\)/g)].map(([, label = '', target = '']) => ({ label, target }));

const isSpec = ({ target }: Link): boolean => target.startsWith('../../test/');

/** Rows of the tables whose columns are number, threat and rule. */
const rows = readFileSync(threats, 'utf8')
  .split('\n\n')
  .filter((block) => block.startsWith('| no. | threat | rule |\n'))
  .flatMap((table) => table.trimEnd().split('\n').slice(2))
  .map((line) => line.slice(2, -2).split(' | '));

/** The proofs' page by number. */
const sections = new Map(
  readFileSync(proofs, 'utf8')
    .split(/^### /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf('\n')), section.split(/^## /m)[0] ?? '']),
);

describe('docs/explain/security.md', () => {
  it('has a rule for each threat, with code and a spec on the page of proofs', () => {
    assert.ok(rows.length >= 98);
    const numbers = rows.map(([number = '']) => linksIn(number)[0] ?? assert.fail(`${number} links to no proof`));
    assert.deepEqual(
      numbers.map(({ label }) => label),
      [...sections.keys()],
    );
    for (const [at, cells] of rows.entries()) {
      const { label, target } = numbers[at] ?? assert.fail();
      const [, threat = '', rule = ''] = cells;
      assert.equal(cells.length, 3, threat);
      assert.equal(target, `../audit/threat-specs.md#${label.toLowerCase()}`);
      assert.ok(threat.length > 0 && rule.length > 0, label);
      const section = sections.get(label) ?? '';
      assert.ok(section.includes(`\n${threat}\n`), `${label} names another threat on the page of proofs`);
      const files = linksIn(section).filter((link) => !isSpec(link));
      assert.ok(files.length > 0 && files.every((link) => existsSync(new URL(link.target, proofs))), threat);
      assert.ok(linksIn(section).some(isSpec), threat);
    }
  });

  it('names specs by their titles', () => {
    const gone = [...sections.values()]
      .flatMap(linksIn)
      .filter(isSpec)
      .filter(({ label, target }) => !titlesIn(readFileSync(new URL(target, proofs), 'utf8')).includes(label));
    assert.deepEqual(gone, []);
  });
});
