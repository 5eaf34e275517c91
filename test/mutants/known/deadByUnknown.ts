import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a transaction that no node knows counts as dropped',
  seenIn: 'rrelayer and many payout scripts: a transaction outside of the mempool is sent again',
  file: 'src/chains/node/agreement.ts',
  from: "    if (said === undefined) return isUnshown ? undecided : { kind: 'unknown' };",
  to: [
    '    if (said === undefined)',
    "      return { kind: 'dead', attempts: [1], proof: { reason: 'nonceUsed', detail: 'no node knows it' } };",
  ].join('\n'),
  breaks: 'deadIsProven',
  specs: ['test/chains/node/agreement.test.ts'],
};
