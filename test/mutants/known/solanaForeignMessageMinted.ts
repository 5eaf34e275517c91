import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the key on Solana mints for any attested message',
  seenIn: 'relayers that trust an attestation and do not read its message',
  file: 'src/chains/solana/signer/signer.ts',
  from: '      }) === undefined &&',
  to: '      }) !== null &&',
  breaks: 'moneyInTransit',
  specs: ['test/chains/solana/signer/rebalances.test.ts'],
};
