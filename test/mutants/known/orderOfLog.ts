import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the service trusts the ordered payout: receiver, token and amount',
  seenIn: 'payout queues that trust everybody who can write to them',
  file: 'domain/payment/backing.ts',
  from: '  if (!isDue(order, p, funded))',
  to: '  if (order.amount < 0n)',
  breaks: 'paidFor',
  specs: ['test/domain/payment/backing.test.ts'],
};
