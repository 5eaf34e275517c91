import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the service never checks again for a payin that has left its chain',
  seenIn: 'watchers that believe a fork forever, although nodes return from a wrong branch',
  file: 'queries/payins.ts',
  from: "(phase = 'detected' OR (phase IN ('orphaned', 'lost') AND block_time > $4))",
  to: "(phase = 'detected' OR (phase = 'gone' AND block_time > $4))",
  breaks: 'everyPayinKept',
  specs: ['test/queries/payins.test.ts'],
};
