import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a burn on Stellar may mint for any recipient',
  seenIn: 'bridges whose signer checks the contract and not the recipient',
  file: 'src/chains/stellar/signer/signer.ts',
  from: '      form.mintRecipient === ownOn(destination) &&',
  to: "      form.mintRecipient !== '' &&",
  breaks: 'moneyInTransit',
  specs: ['test/chains/stellar/signer/rebalances.test.ts'],
};
