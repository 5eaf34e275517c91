import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the service starts to read a chain where one node says, while the others do not answer',
  seenIn: 'watchers that ask any available node: one that has forgotten the past makes them start after a payin',
  file: 'src/chains/node/agreement.ts',
  from: '  if (told.length >= rpc.agree.usual) return told;',
  to: '  if (told.length >= 1) return told;',
  breaks: 'everyPayinKept',
  specs: ['test/chains/node/agreement.test.ts'],
};
