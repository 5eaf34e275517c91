import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'money is burned for a treasury on Solana that has no token account, so its mint waits',
  seenIn: 'bridges that check the recipient’s address and not its account',
  file: 'src/chains/solana/payouts/preflight.ts',
  from: '  const lacksOwn = memo === ownMemo && !tokenAccountIn(held);',
  to: '  const lacksOwn = memo === ownMemo && !held && address === token.address;',
  breaks: 'moneyInTransit',
  specs: ['test/workers/rebalances/solanaMove.test.ts'],
};
