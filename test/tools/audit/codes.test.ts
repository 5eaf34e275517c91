import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { findingRemedies } from '../../../tools/audit/findings.ts';

const root = new URL('../../../', import.meta.url).pathname;
const text = (file: string) => readFileSync(`${root}${file}`, 'utf8');
const codes = Object.keys(findingRemedies);

describe('each possible finding of an audit', () => {
  it('is planted by a spec', () => {
    const specs = globSync('test/tools/audit/*.test.ts', { cwd: root }).map(text).join('\n');
    assert.deepEqual(
      codes.filter((code) => !new RegExp(`['\`]${code}[ '\`]`).test(specs)),
      [],
    );
  });

  it('is in the table of docs/audit/audit.md', () => {
    const page = text('docs/audit/audit.md').split('\n## Findings\n')[1]?.split('\n## ')[0] ?? '';
    assert.deepEqual(
      codes.filter((code) => !page.includes(`\`${code}\``)),
      [],
    );
  });
});
