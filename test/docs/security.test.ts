/** docs/explain/security.md names rules by their files and specs by their titles: each has to be there, under that name. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';

const page = new URL('../../docs/explain/security.md', import.meta.url);
const text = readFileSync(page, 'utf8');

interface Link {
  readonly label: string;
  readonly target: string;
}

const linksIn = (markdown: string): readonly Link[] =>
  [...markdown.matchAll(/\[([^\]]+)\]\(([^)\s]+)\)/g)].map(([, label = '', target = '']) => ({ label, target }));

const isSpec = ({ target }: Link): boolean => target.startsWith('../../test/');

/** Rows of the tables whose columns are threat, rule and spec. */
const rows = text
  .split('\n\n')
  .filter((block) => block.startsWith('| threat | rule | spec |\n'))
  .flatMap((table) => table.trimEnd().split('\n').slice(2))
  .map((line) => line.split(' | '));

/** What a spec's file calls its specs. */
function titlesIn(target: string): readonly string[] {
  const source = readFileSync(new URL(target, page), 'utf8');
  const calls = source.matchAll(/\b(?:describe|it)\(\s*(['"`])((?:\\.|(?!\1).)*)\1/g);
  return [...calls].map(([, , title = '']) => title.replaceAll(/\\(.)/g, '$1'));
}

describe('docs/explain/security.md', () => {
  it('has a rule in the code and a spec for each threat', () => {
    assert.ok(rows.length >= 40);
    for (const cells of rows) {
      const [threat, rule = '', spec = ''] = cells;
      assert.equal(cells.length, 3, threat);
      const files = linksIn(rule).filter((link) => !isSpec(link));
      assert.ok(files.length > 0 && files.every(({ target }) => existsSync(new URL(target, page))), threat);
      assert.ok(linksIn(spec).length > 0 && linksIn(spec).every(isSpec), threat);
    }
  });

  it('names specs as they are called', () => {
    const gone = linksIn(text)
      .filter(isSpec)
      .filter(({ label, target }) => !titlesIn(target).includes(label));
    assert.deepEqual(gone, []);
  });
});
