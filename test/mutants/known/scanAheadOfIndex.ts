import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'blocks are scanned before the address index holds every disclosed address',
  seenIn: 'address lists that are loaded at intervals',
  file: 'src/workers/payins/range.ts',
  from: ['): Promise<readonly HandledTransfer[]> {', '  await deps.caughtUp(signal);', ''].join('\n'),
  to: ['): Promise<readonly HandledTransfer[]> {', ''].join('\n'),
  breaks: 'everyPayinKept',
  specs: ['test/workers/payins.test.ts'],
};
