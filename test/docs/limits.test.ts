import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { limitsDocument } from '../../docs/limits.ts';

describe('docs/limits.md', () => {
  it('is what the code says today', () => {
    const committed = readFileSync(new URL('../../docs/limits.md', import.meta.url), 'utf8');
    assert.equal(committed, `${limitsDocument()}\n`, 'docs/limits.md is stale: run `npm run docs` and commit it');
  });
});
