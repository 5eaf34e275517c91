import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a stream that a restored log has in its place is read on as if it were the one that was known',
  seenIn: 'caches that go on from a position, whatever lies there by now',
  file: 'commands/handle.ts',
  from: 'if (seen === undefined || linkOf(seen) !== tip.link || ',
  to: 'if (seen === undefined || ',
  breaks: 'decidedOnce',
  specs: ['test/commands/handle.test.ts'],
};
