import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { limitsDocument } from '../../docs/generate/limits.ts';

describe('docs/reference/limits.md', () => {
  it('is what the code states today', () => {
    const committed = readFileSync(new URL('../../docs/reference/limits.md', import.meta.url), 'utf8');
    assert.equal(
      committed,
      `${limitsDocument()}\n`,
      'docs/reference/limits.md is stale: run `npm run docs` and commit it',
    );
  });
});
