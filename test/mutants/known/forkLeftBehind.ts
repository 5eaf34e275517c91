import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'what a fork took away is recorded before the cursor is back where it began',
  seenIn:
    'watchers that follow one node: after a crash, money that a node on a branch of its own took for gone is never looked for again',
  file: 'src/workers/payins/payins.ts',
  from: ['    if (orphaned.length > 0) await goBack(deps, own, next);', ''].join('\n'),
  to: '',
  breaks: 'everyPayinKept',
  specs: ['test/workers/payins.test.ts'],
};
