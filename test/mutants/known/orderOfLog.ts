import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the payout that is ordered is believed: receiver, token and amount',
  seenIn: 'payout queues that whoever can write to them fills',
  file: 'domain/payment/backing.ts',
  from: '  if (!isDue(order, p, funded))',
  to: '  if (order.amount < 0n)',
  breaks: 'paidFor',
  specs: ['test/domain/payment/backing.test.ts'],
};
