import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'one node’s missing blocks count as gone in a pass that does not read all of their payins again',
  seenIn: 'watchers with a cursor per depth: one of them removes payins that the others never read again',
  file: 'src/workers/payins/range.ts',
  from: '  if (range.orphaned.length > 0) await orphanAbove(deps, believed(pass, range), signal);',
  to: "  if (range.orphaned.length > 0) await orphanAbove(deps, believed('head', range), signal);",
  breaks: 'everyPayinKept',
  specs: ['test/workers/payins.test.ts'],
};
