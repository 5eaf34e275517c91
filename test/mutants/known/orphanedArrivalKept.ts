import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a rebalance stays done though the block of its arrival left the chain',
  seenIn: 'bridges that believe a delivery for ever once it was final',
  file: 'src/workers/rebalances/attend.ts',
  from: '      if (!state?.minted?.byOther) return;',
  to: '      if (state?.minted?.byOther !== false) return;',
  breaks: 'moneyInTransit',
  specs: ['test/workers/rebalances/arrivals.test.ts', 'test/workers/rebalances/usdt0Move.test.ts'],
};
