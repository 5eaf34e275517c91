import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a repeated request orders another refund',
  seenIn: 'refund endpoints without idempotency',
  file: 'domain/payment/refundOrder.ts',
  from: ['  if (former) return former;', ''].join('\n'),
  to: '',
  breaks: 'refundsWithinHeld',
  specs: ['test/domain/payment/refundOrder.test.ts'],
};
