import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a payout is signed although the money that funded it has left its chain',
  seenIn: 'gateways whose reorganisations are handled before the payout alone',
  file: 'domain/payment/payout.ts',
  from: '    if (lostFunding(p) && liveAttempts(p.payout).length === 0)',
  to: '    if (p.payout.short && lostFunding(p))',
  breaks: 'creditedWhenFinal',
  specs: ['test/domain/payment/payout.test.ts'],
};
