import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { compile } from '../../contracts/evm/build.ts';

describe('contract build', () => {
  it('gives exactly the committed artifacts', async () => {
    for (const [path, text] of await compile()) {
      assert.equal(await readFile(path, 'utf8'), text, `${path} is stale: npm run contracts`);
    }
  });
});
