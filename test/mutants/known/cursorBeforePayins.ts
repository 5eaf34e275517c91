import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the cursor is saved before the payins of its blocks are recorded',
  seenIn: 'watchers that save the block number first: a crash loses its payins',
  file: 'src/workers/payins/payins.ts',
  from: ['    const { orphaned, missed, next } = range;', ''].join('\n'),
  to: [
    '    const { orphaned, missed, next } = range;',
    '    own.cursor = next;',
    '    await save(deps, own);',
    '',
  ].join('\n'),
  breaks: 'everyPayinKept',
  specs: ['test/workers/payins.test.ts'],
};
