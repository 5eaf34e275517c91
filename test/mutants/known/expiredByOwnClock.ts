import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a payment expires by the local clock before its chain has been read that far',
  seenIn: 'watchers that were down: paid invoices expire',
  file: 'domain/payment/close.ts',
  from: '  if (!isPast(chainTime, p.terms.expiresAt)) {',
  to: '  if (!isPast(now, p.terms.expiresAt)) {',
  breaks: 'everyPayinKept',
  specs: ['test/domain/payment/close.test.ts'],
};
