import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the service parses all ranges of an Accept header, without a maximum',
  seenIn: 'HTTP frameworks that sort whole Accept headers (regular-expression and parser floods)',
  file: 'src/api/accept.ts',
  from: ['    .slice(0, charactersMax)', "    .split(',', rangesMax)"].join('\n'),
  to: "    .split(',')",
  breaks: 'strangersBounded',
  specs: ['test/api/accept.test.ts'],
};
