import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the payment’s terms decide a token’s decimals, not the catalogue',
  seenIn: 'bridges that took decimals from the message',
  file: 'domain/payment/backing.ts',
  from: '  if (!isListed(source) || !isListed(destination))',
  to: '  if (!source.chainId)',
  breaks: 'paidFor',
  specs: ['test/domain/payment/backing.test.ts'],
};
