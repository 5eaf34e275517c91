import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'an arrival of another amount than was sent completes a move by USDT0',
  seenIn: 'bridges that compare the message id and not the amount',
  file: 'domain/rebalance/rebalance.ts',
  from: '  if (received !== whole)',
  to: '  if (received > whole)',
  breaks: 'moneyInTransit',
  specs: ['test/domain/rebalance/usdt0.test.ts', 'test/workers/rebalances/usdt0Move.test.ts'],
};
