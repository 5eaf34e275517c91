import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a burn on Stellar may allow any fee',
  seenIn: 'bridge calls with a fee limit that the caller chooses',
  file: 'src/chains/stellar/signer/signer.ts',
  from: 'feeMax >= amount || inMessageUnits(feeMax, token) > limit)',
  to: 'feeMax >= amount)',
  breaks: 'moneyInTransit',
  specs: ['test/chains/stellar/signer/rebalances.test.ts'],
};
