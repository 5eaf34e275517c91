import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'any message of the transaction counts as that of our send by USDT0',
  seenIn: 'bridge monitors that believe the first log with the right topic',
  file: 'src/chains/oftMessages.ts',
  from: '  return isOurs ?',
  to: '  return isOurs || true ?',
  breaks: 'moneyInTransit',
  specs: ['test/workers/rebalances/usdt0Move.test.ts'],
};
