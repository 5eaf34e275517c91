import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a wallet may pay any sum where the payer chooses the amount',
  seenIn: 'payments below the minimum, which cannot be paid out',
  file: 'domain/payment/choose.ts',
  from: '  return isAmount && units >= least && units <= most ? units : null;',
  to: '  return isAmount ? units : null;',
  breaks: 'onePress',
  specs: ['test/api/preparedPayments.test.ts'],
};
