import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the key sends any lumens along with a send by USDT0 on Stellar',
  seenIn: 'bridge integrations that pay the quoted message fee, whatever it is',
  file: 'src/chains/stellar/signer/signer.ts',
  from: '    if (fee <= 0n || fee > limit)',
  to: '    if (fee <= 0n)',
  breaks: 'moneyInTransit',
  specs: ['test/chains/stellar/signer/usdt0.test.ts'],
};
