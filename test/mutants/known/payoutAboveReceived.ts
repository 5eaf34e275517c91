import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a payout is signed for more than its payment received',
  seenIn: 'signers that prove the deposit and trust the ledger’s amount',
  file: 'domain/payment/backing.ts',
  from: '  if (paidOut(p, funded) + funded.excess > funded.received || funded.excess < 0n)',
  to: '  if (funded.excess < 0n)',
  breaks: 'paidFor',
  specs: ['test/domain/payment/backing.test.ts'],
};
