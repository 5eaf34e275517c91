import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a cancel gives back what its payout took of the hour',
  seenIn: 'limits that count what is pending: sign, cancel, sign again',
  file: 'src/chains/money/spending.ts',
  from: '  const of = spent.amount >= before.amount ? spent : before;',
  to: '  const of = spent;',
  breaks: 'floatReserved',
  specs: ['test/chains/spending.test.ts'],
};
