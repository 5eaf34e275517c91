import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the receiver comes from the current request, not from the stream',
  seenIn: 'payout endpoints that trust the retried request',
  file: 'domain/transfer/record.ts',
  from: ['    attempt.receiver !== order.receiver ||', ''].join('\n'),
  to: '',
  breaks: 'paidToOrder',
  specs: ['test/domain/transfer/leg.test.ts'],
};
