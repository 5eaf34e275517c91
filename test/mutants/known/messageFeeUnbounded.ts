import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the key sends any coin along with a send by USDT0',
  seenIn: 'bridge integrations that pay the quoted message fee, whatever it is',
  file: 'src/chains/evm/signer/signer.ts',
  from: '  if (fee <= 0n || fee > messageFeeLimit(chain.id))',
  to: '  if (fee <= 0n)',
  breaks: 'moneyInTransit',
  specs: ['test/chains/evm/signer/usdt0.test.ts'],
};
