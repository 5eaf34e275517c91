import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a send by USDT0 may call a contract on the destination, or return the excess coin to somebody',
  seenIn: 'signers that check the called contract and its coin, and not the whole call',
  file: 'src/chains/evm/signer/signer.ts',
  from: '    isSame(payload, sendCall(order, account as Address));',
  to: '    isAddressEqual(payload.to, sendCall(order, account as Address).to);',
  breaks: 'moneyInTransit',
  specs: ['test/chains/evm/signer/usdt0.test.ts'],
};
