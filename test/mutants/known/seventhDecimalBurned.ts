import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a burn on Stellar may have a seventh decimal, which is lost in the message',
  seenIn: 'token bridges between chains of different decimals',
  file: 'domain/rebalance/routeObjection.ts',
  from: '    if (!isWholeInMessages(BigInt(value), from.token))',
  to: '    if (BigInt(value) < 0n)',
  breaks: 'moneyInTransit',
  specs: ['test/workers/rebalances/stellarMove.test.ts'],
};
