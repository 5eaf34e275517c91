import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a payout is signed although its funding has left the chain',
  seenIn: 'gateways that handle reorganisations only before the payout',
  file: 'domain/payment/payout.ts',
  from: '    if (lostFunding(p) && liveAttempts(p.payout).length === 0)',
  to: '    if (p.payout.short && lostFunding(p))',
  breaks: 'creditedWhenFinal',
  specs: ['test/domain/payment/payout.test.ts'],
};
