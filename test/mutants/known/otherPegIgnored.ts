import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a token of another currency counts as one dollar',
  seenIn: 'this project before tokens stated a peg: 100 USDC were paid out as 99.89 EURC',
  file: 'domain/chains.ts',
  from: "  if (peg === 'usd') return undefined;",
  to: "  if (peg !== '') return undefined;",
  breaks: 'paidFor',
  specs: ['test/domain/pegs.test.ts'],
};
