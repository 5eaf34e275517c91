import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a deposit on Solana that is swept and paid the same amount again is not read again',
  seenIn: 'watchers that compare balances and not transactions',
  file: 'src/chains/solana/payins/memory.ts',
  from: 'const checksMax = 10;',
  to: 'const checksMax = 0;',
  breaks: 'everyPayinKept',
  specs: ['test/chains/solana/deposits/sweep.test.ts'],
};
