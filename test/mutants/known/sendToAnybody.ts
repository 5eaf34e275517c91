import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a send by USDT0 may arrive at any recipient',
  seenIn: 'bridges whose signer checks the contract and not the recipient',
  file: 'src/chains/evm/signer/signer.ts',
  from: '    form.recipient === own(destination) &&',
  to: "    form.recipient !== '' &&",
  breaks: 'moneyInTransit',
  specs: ['test/chains/evm/signer/usdt0.test.ts'],
};
