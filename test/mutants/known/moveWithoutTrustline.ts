import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'money is burned for an account on Stellar that cannot receive it',
  seenIn: 'bridges that burn first, and find a missing trustline at the mint',
  file: 'src/workers/payouts/owners.ts',
  from: "  if (obstacle) throw new PayoutBlocked('refusedByToken', `${obstacle.message}; nothing is burned before`);",
  to: '',
  breaks: 'moneyInTransit',
  specs: ['test/workers/rebalances/usdt0StellarMove.test.ts'],
};
