import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'nonces come from the chain’s count, not from the log',
  seenIn: 'OpenZeppelin relayer#836: two transactions prepared at once got one nonce',
  file: 'domain/treasury/nonces.ts',
  from: 'data: { nonce: nextNonce.toString(), purpose,',
  to: 'data: { nonce: minedNonce.toString(), purpose,',
  breaks: 'nonceOnce',
  specs: ['test/domain/treasury/nonces.test.ts'],
  seed: 8,
};
