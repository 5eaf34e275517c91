import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'payouts under way do not count against the treasury’s balance',
  seenIn: 'hot wallets that only check their balance',
  file: 'src/chains/money/spending.ts',
  from: '  if (held - spokenFor >= amount) return;',
  to: '  if (held >= amount) return;',
  breaks: 'floatReserved',
  specs: ['test/chains/evm/payouts/rail.test.ts'],
};
