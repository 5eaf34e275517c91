/** There is one way to the treasury's keys: src/workers/payouts signs what a stream decided. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';

/** Callers of a signer. Signers themselves, and the proxy of a signer in another process, only answer. */
const asks = /\bsigner\??\.sign\(/;

describe('the treasury’s keys', () => {
  it('are used for signatures by the engine of transfers, and by the operator’s trial payment to the treasury itself', () => {
    const files = globSync('{commands,domain,projections,queries,src,web,tools}/**/*.ts', {
      cwd: `${import.meta.dirname}/../../..`,
    });
    const asking = files.filter((file) => asks.test(readFileSync(`${import.meta.dirname}/../../../${file}`, 'utf8')));
    const answering = /^src\/(signer|chains\/[^/]+\/signer)\//;
    assert.deepEqual(asking.filter((file) => !answering.test(file)).toSorted(), [
      'src/workers/payouts/cancels.ts',
      'src/workers/payouts/sign.ts',
      'tools/selfTestPayment.ts',
    ]);
  });
});
