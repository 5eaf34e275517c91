import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'removed payins are recorded before the cursor returns to the fork',
  seenIn:
    'watchers that follow one node: after a crash they never search again for money that a node on a wrong branch had removed',
  file: 'src/workers/payins/payins.ts',
  from: ['    if (orphaned.length > 0) await goBack(deps, own, next);', ''].join('\n'),
  to: '',
  breaks: 'everyPayinKept',
  specs: ['test/workers/payins.test.ts'],
};
