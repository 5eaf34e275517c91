import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a cancel returns its payout’s share of the hourly limit',
  seenIn: 'limits that count pending transactions: sign, cancel, sign again',
  file: 'src/chains/money/spending.ts',
  from: '  const of = spent.amount >= before.amount ? spent : before;',
  to: '  const of = spent;',
  breaks: 'floatReserved',
  specs: ['test/chains/spending.test.ts'],
};
