import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a payin counts once for each spelling of its hash',
  seenIn: 'deposits credited twice, under a hash in other letters',
  file: 'src/chains/stellar/payins/transfers.ts',
  from: '      const hash = asked.toLowerCase();',
  to: '      const hash = asked;',
  breaks: 'paidFor',
  specs: ['test/signer/stellarHash.test.ts'],
};
