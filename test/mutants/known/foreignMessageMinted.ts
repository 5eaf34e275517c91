import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the key mints for any attested message',
  seenIn: 'relayers that trust an attestation and do not read its message',
  file: 'src/chains/evm/signer/signer.ts',
  from: ['    }) === undefined &&', '    amount === message.amount'].join('\n'),
  to: ['    }) !== null &&', '    amount === message.amount'].join('\n'),
  breaks: 'moneyInTransit',
  specs: ['test/chains/evm/signer/rebalances.test.ts'],
};
