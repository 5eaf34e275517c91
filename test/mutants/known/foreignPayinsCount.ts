import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'payins on any chain fund a payment, whatever its source is',
  seenIn: 'gateways that add up deposits by payment id alone',
  file: 'domain/payment/backing.ts',
  from: 'transferIds.includes(id) && isSameAsset(transfer, source)',
  to: "transferIds.includes(id) && transfer.amount !== source.amount + '0'",
  breaks: 'paidFor',
  specs: ['test/domain/payment/backing.test.ts'],
};
