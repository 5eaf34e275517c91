import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a send by USDT0 on Stellar may have a seventh decimal, which stays behind',
  seenIn: 'OFT integrations that compare the sent amount with the ordered one only after the send',
  file: 'src/chains/stellar/signer/signer.ts',
  from: '      amount > 0n &&\n      isWholeInMessages(amount, token) &&\n      receiver === counterpartyOn(stellarChainId) &&',
  to: '      amount > 0n &&\n      receiver === counterpartyOn(stellarChainId) &&',
  breaks: 'moneyInTransit',
  specs: ['test/chains/stellar/signer/usdt0.test.ts'],
};
