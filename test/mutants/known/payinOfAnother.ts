import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a payment keeps a known transfer that its nodes now return for another receiver',
  seenIn: 'indexers that identify a transfer by its id alone',
  file: 'src/workers/payins/payins.ts',
  from: 'if (found && !(await isMadeAsRecorded(deps, payin, found)))',
  to: 'if (found && found.blockNumber === undefined)',
  breaks: 'paidFor',
  specs: ['test/workers/payins.test.ts'],
};
