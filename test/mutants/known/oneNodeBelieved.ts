import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'one node’s answer is credited, whatever the amount',
  seenIn: 'single-node gateways: a lying node funds anything',
  file: 'src/chains/node/agreement.ts',
  from: '  usd >= largeFrom_usd ? Math.max(usual, large) : usual;',
  to: '  usd >= largeFrom_usd ? Math.min(usual, large, 1) : 1;',
  breaks: 'creditedWhenFinal',
  specs: ['test/chains/node/agreement.test.ts'],
};
