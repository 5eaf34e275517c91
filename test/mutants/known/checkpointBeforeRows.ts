import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the checkpoint is committed before the rows',
  seenIn: 'projections with two transactions: a crash in between loses a batch',
  file: 'projections/commit.ts',
  from: '        const moving = move(tx, from, batch);',
  to: '        const moving = Promise.resolve(await db.transaction((own) => move(own, from, batch)));',
  breaks: 'rowsFollowLog',
  specs: ['test/projections/exactlyOnce.test.ts'],
  seed: 3,
};
