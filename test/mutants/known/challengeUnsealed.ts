import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a credential is accepted for a challenge that nobody issued',
  seenIn: 'servers that read terms from the credential (grantex #557)',
  file: 'src/api/relays/mpp.ts',
  from: [
    "      if (!seals.isSealOf(id, factsOf(challenge))) throw malformed('answers no challenge of this server');",
    '',
  ].join('\n'),
  to: '',
  breaks: 'relayedOnce',
  specs: ['test/api/mpp.test.ts'],
};
