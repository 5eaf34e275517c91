import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'each attempt of a burn on Solana has an account of its own, so two of them can land',
  seenIn: 'clients of CCTP that generate a new key for each try',
  file: 'src/chains/solana/payouts/rebalancing.ts',
  from: '    const eventAccount = eventAccountOf(reference);',
  to: '    const eventAccount = eventAccountOf(earlier.length > 0 ? `${reference}#${earlier.length}` : reference);',
  breaks: 'moneyInTransit',
  specs: ['test/workers/rebalances/solanaMove.test.ts'],
};
