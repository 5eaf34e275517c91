import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a stream is read without a check that each event follows its predecessor',
  seenIn: 'hash chains that nothing verifies',
  file: 'commands/codec.ts',
  from: '  if (broken) throw new ChainBroken(broken);',
  to: '  if (broken?.revision === -1n) throw new ChainBroken(broken);',
  breaks: 'logIsOurs',
  specs: ['test/commands/handle.test.ts'],
};
