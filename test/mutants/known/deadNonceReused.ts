import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the next attempt gets a nonce that is already used',
  seenIn: 'wallet scripts that reuse the failed transaction’s nonce',
  file: 'domain/transfer/record.ts',
  from: '  return reused ?',
  to: '  return reused && live ?',
  breaks: 'nonceOnce',
  specs: ['test/domain/transfer/leg.test.ts'],
};
