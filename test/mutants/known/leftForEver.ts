import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'what has left its chain is never asked for again',
  seenIn: 'watchers that believe a fork for good: nodes that were on a branch of their own for long, and come back',
  file: 'queries/payins.ts',
  from: "(phase = 'detected' OR (phase IN ('orphaned', 'lost') AND block_time > $4))",
  to: "(phase = 'detected' OR (phase = 'gone' AND block_time > $4))",
  breaks: 'everyPayinKept',
  specs: ['test/queries/payins.test.ts'],
};
