import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'money that arrives after the payment’s end is not recorded',
  seenIn: 'BTCPay and others: an expired invoice is no longer watched',
  file: 'domain/payment/payins.ts',
  from: '  if (!assigned && !takesUp(p, transfer)) return [];',
  to: '  if (p.closed || (!assigned && !takesUp(p, transfer))) return [];',
  breaks: 'everyPayinKept',
  specs: ['test/domain/payment/payins.test.ts'],
};
