import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a stream that a restored log has replaced is continued from the cached state',
  seenIn: 'caches that continue from a position, whatever is there now',
  file: 'commands/handle.ts',
  from: 'if (seen === undefined || linkOf(seen) !== tip.link || ',
  to: 'if (seen === undefined || ',
  breaks: 'decidedOnce',
  specs: ['test/commands/handle.test.ts'],
};
