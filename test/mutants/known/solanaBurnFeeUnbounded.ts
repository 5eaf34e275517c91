import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a burn on Solana may allow any fee',
  seenIn: 'bridge calls with a fee limit that the caller chooses',
  file: 'src/chains/solana/signer/signer.ts',
  from: 'feeMax >= amount || feeMax > feeLimit(amount))',
  to: 'feeMax >= amount)',
  breaks: 'moneyInTransit',
  specs: ['test/chains/solana/signer/rebalances.test.ts'],
};
