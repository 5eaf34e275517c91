import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a burn may allow any fee',
  seenIn: 'bridge calls with a fee limit that the caller chooses',
  file: 'src/chains/evm/signer/signer.ts',
  from: 'feeMax >= amount || feeMax > feeLimit(amount))',
  to: 'feeMax >= amount)',
  breaks: 'moneyInTransit',
  specs: ['test/chains/evm/signer/rebalances.test.ts'],
};
