import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'smallest units of tokens with different decimals are added up',
  seenIn: 'bridges that summed 6 and 18 decimals',
  file: 'domain/payment/backing.ts',
  from: "phase === 'confirmed' && isSameAsset(transfer, asset)",
  to: "phase === 'confirmed' && transfer.txHash !== asset.token.address",
  breaks: 'paidFor',
  specs: ['test/domain/payment/backing.test.ts'],
};
