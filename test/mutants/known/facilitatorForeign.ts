import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the facilitator settles for deposits of other apps',
  seenIn: 'facilitators that are a free relayer for the world',
  file: 'src/api/relays/facilitator.ts',
  from: '    if (!owner || owner.appId !== appId)',
  to: '    if (!owner)',
  breaks: 'relayedOnce',
  specs: ['test/api/facilitator.test.ts'],
};
