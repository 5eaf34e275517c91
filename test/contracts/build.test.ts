import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { compile, hasLayerZero } from '../../contracts/evm/build.ts';

describe('contract build', () => {
  it('has the sources of the sandbox’s USDT0', function () {
    // `npm run contracts` and the gate install them; a plain `npm ci` does not.
    if (!hasLayerZero()) this.skip();
  });

  it('gives exactly the committed artifacts', async () => {
    for (const [path, text] of await compile()) {
      assert.equal(await readFile(path, 'utf8'), text, `${path} is stale: npm run contracts`);
    }
  });
});
