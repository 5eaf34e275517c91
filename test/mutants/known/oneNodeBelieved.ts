import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'what one node shows is credited, whatever the sum',
  seenIn: 'single-node gateways: a node that lies funds anything',
  file: 'src/chains/node/agreement.ts',
  from: '  usd >= largeFrom_usd ? Math.max(usual, large) : usual;',
  to: '  usd >= largeFrom_usd ? Math.min(usual, large, 1) : 1;',
  breaks: 'creditedWhenFinal',
  specs: ['test/chains/node/agreement.test.ts'],
};
