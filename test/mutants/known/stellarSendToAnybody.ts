import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a send by USDT0 on Stellar may arrive at any recipient',
  seenIn: 'bridges whose signer checks the contract and not the recipient',
  file: 'src/chains/stellar/signer/signer.ts',
  from: '      form.recipient === evmAccount &&',
  to: "      form.recipient !== '' &&",
  breaks: 'moneyInTransit',
  specs: ['test/chains/stellar/signer/usdt0.test.ts'],
};
