import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a payment takes a transfer that its nodes show as made to somebody else by now, because its id is known',
  seenIn: 'indexers that know a transfer by its id alone',
  file: 'src/workers/payins/payins.ts',
  from: 'if (found && !(await isMadeAsRecorded(deps, payin, found)))',
  to: 'if (found && found.blockNumber === undefined)',
  breaks: 'paidFor',
  specs: ['test/workers/payins.test.ts'],
};
