import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

const text = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
const { dependencies, devDependencies } = JSON.parse(text('package.json')) as Record<string, Record<string, string>>;
const [production = '', development = ''] = text('docs/contribute/dependencies.md').split('\n## For development');

/** Package names in the first column of a table. */
const listed = (part: string) =>
  part
    .split('\n')
    .flatMap((line) => [...(/^\| (`.*?) \|/.exec(line)?.[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name));

describe('docs/contribute/dependencies.md', () => {
  it('justifies every dependency, and no removed one', () => {
    assert.deepEqual(listed(production).sort(), Object.keys(dependencies ?? {}).sort());
    assert.deepEqual(listed(development).sort(), Object.keys(devDependencies ?? {}).sort());
  });
});
