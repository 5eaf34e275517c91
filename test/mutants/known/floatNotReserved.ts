import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'payouts under way do not count against what the treasury holds',
  seenIn: 'hot wallets that look at their balance alone',
  file: 'src/chains/money/spending.ts',
  from: '  if (held - spokenFor >= amount) return;',
  to: '  if (held >= amount) return;',
  breaks: 'floatReserved',
  specs: ['test/chains/evm/payouts/rail.test.ts'],
};
