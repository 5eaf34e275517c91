import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a burn on Solana may mint for any recipient',
  seenIn: 'bridges whose signer checks the program and not the recipient',
  file: 'src/chains/solana/signer/signer.ts',
  from: '      form.mintRecipient === ownOn(destination) &&',
  to: "      form.mintRecipient !== '' &&",
  breaks: 'moneyInTransit',
  specs: ['test/chains/solana/signer/rebalances.test.ts'],
};
