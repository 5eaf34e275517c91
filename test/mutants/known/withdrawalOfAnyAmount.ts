import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a withdrawal of one cent of credit backs a payout of any amount',
  seenIn: 'loyalty points that are checked by name, not by amount',
  file: 'domain/payment/cashback.ts',
  from: '    funded.payout <= convert(BigInt(cents), usCent, destination.token)',
  to: '    BigInt(cents) > 0n',
  breaks: 'paidFor',
  specs: ['test/signer/withdrawals.test.ts'],
};
