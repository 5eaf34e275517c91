import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { rolesDocument } from '../../docs/generate/roles.ts';

describe('docs/reference/roles.md', () => {
  it('is what the commands check today', () => {
    const committed = readFileSync(new URL('../../docs/reference/roles.md', import.meta.url), 'utf8');
    assert.equal(
      committed,
      `${rolesDocument()}\n`,
      'docs/reference/roles.md is stale: run `npm run docs` and commit it',
    );
  });
});
