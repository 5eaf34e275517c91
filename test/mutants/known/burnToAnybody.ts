import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a burn may mint for any recipient',
  seenIn: 'bridges whose signer checks the contract and not the recipient',
  file: 'src/chains/evm/signer/signer.ts',
  from: '    form.mintRecipient === own(destination) &&',
  to: "    form.mintRecipient !== '' &&",
  breaks: 'moneyInTransit',
  specs: ['test/chains/evm/signer/rebalances.test.ts'],
};
