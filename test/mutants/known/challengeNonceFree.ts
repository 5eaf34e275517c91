import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the nonce of a credential is not that of its challenge',
  seenIn: 'replays of one authorization for several challenges',
  file: 'src/api/relays/mpp.ts',
  from: '  if (nonce.toLowerCase() !== bound)',
  to: "  if (nonce === '')",
  breaks: 'relayedOnce',
  specs: ['test/api/mpp.test.ts'],
};
