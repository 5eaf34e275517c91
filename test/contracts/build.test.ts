import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { compile, hasLayerZero, stamp, stampPath } from '../../contracts/evm/build.ts';
import { isFull } from '../support/suite.ts';

describe('contract build', () => {
  it('has the sources of the sandbox’s USDT0', function () {
    // `npm run contracts` and the gate install them; a plain `npm ci` does not.
    if (!hasLayerZero()) this.skip();
  });

  it('was run for the present sources, and its artifacts are unchanged', async () => {
    assert.equal(await readFile(stampPath, 'utf8'), stamp(), 'artifacts are stale: npm run contracts');
  });

  it('gives exactly the committed artifacts', async function () {
    // The compiler takes ten seconds of a processor.
    if (!isFull) this.skip();
    for (const [path, text] of await compile()) {
      assert.equal(await readFile(path, 'utf8'), text, `${path} is stale: npm run contracts`);
    }
  });
});
