import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a batch pays its members the amounts of its own stream, not the amounts that their payments owe',
  seenIn: 'payout files that are signed as a sum',
  file: 'src/workers/payouts/owners.ts',
  from: '        return payable(paymentId, isMember ? payment : null);',
  to: '        return payable(paymentId, isMember === null ? null : payment);',
  breaks: 'paidFor',
  specs: ['test/workers/batches/forged.test.ts'],
};
