import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a transfer without required payins in the log needs no proof',
  seenIn: 'signers that skip the funding check for an amount of zero',
  file: 'src/workers/payouts/fundingProof.ts',
  from: '    if (!first || needed <= 0n || sum < needed)',
  to: '    if (!first || needed <= 0n) return nothingToProve;\n    if (sum < needed)',
  breaks: 'paidFor',
  specs: ['test/workers/payouts/fundingProof.test.ts'],
};
