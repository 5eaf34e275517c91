import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the checkpoint is committed before the rows',
  seenIn: 'projections with two transactions: a crash between loses a batch',
  file: 'projections/commit.ts',
  from: '      const advanced = await advance(tx, from, batch.position, batch.events.length);',
  to: '      const advanced = await db.transaction((own) => advance(own, from, batch.position, batch.events.length));',
  breaks: 'rowsFollowLog',
  specs: ['test/projections/exactlyOnce.test.ts'],
};
