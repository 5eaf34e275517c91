import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a chain is read from where one node says, while the others do not answer',
  seenIn:
    'watchers that ask whichever node is up: one that has forgotten, or hides, lets them begin behind what was paid',
  file: 'src/chains/node/agreement.ts',
  from: '  if (told.length >= rpc.agree.usual) return told;',
  to: '  if (told.length >= 1) return told;',
  breaks: 'everyPayinKept',
  specs: ['test/chains/node/agreement.test.ts'],
};
