import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a burn that was attested and left its chain is burned again',
  seenIn: 'fast bridge transfers that were retried after a reorg',
  file: 'domain/rebalance/rebalance.ts',
  from: '    if (state.mint && liveAttempts(state.burn).length === 0)',
  to: '    if (state.minted && liveAttempts(state.burn).length === 0)',
  breaks: 'moneyInTransit',
  specs: ['test/domain/rebalance/rebalance.test.ts'],
};
