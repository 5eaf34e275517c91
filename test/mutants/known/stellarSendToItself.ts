import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a send by USDT0 on Stellar may lead to any endpoint, its own included',
  seenIn: 'bridge integrations that take the destination from the request',
  file: 'src/chains/stellar/signer/signer.ts',
  from: '      destination !== undefined &&\n      destination !== stellarChainId &&\n      evmAccount !== undefined &&\n      form.recipient',
  to: '      evmAccount !== undefined &&\n      form.recipient',
  breaks: 'moneyInTransit',
  specs: ['test/chains/stellar/signer/usdt0.test.ts'],
};
