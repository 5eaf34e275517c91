/** There is one way to the treasury's keys: what a stream decided, and commands/transfers signs. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';

/** Who asks a signer for a signature; the signers themselves, and what stands in for one of another process, answer. */
const asks = /\bsigner\??\.sign\(/;

describe('the treasury’s keys', () => {
  it('are asked for signatures by the engine of transfers, and by the operator’s trial payment to the treasury itself', () => {
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
