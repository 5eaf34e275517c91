import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'blocks that one node alone has no more are gone, also where a pass says so that reads only part of what they held again',
  seenIn: 'watchers with a cursor for each depth: what one of them takes back the others never read again',
  file: 'src/workers/payins/range.ts',
  from: '  if (range.orphaned.length > 0) await orphanAbove(deps, believed(pass, range), signal);',
  to: "  if (range.orphaned.length > 0) await orphanAbove(deps, believed('head', range), signal);",
  breaks: 'everyPayinKept',
  specs: ['test/workers/payins.test.ts'],
};
