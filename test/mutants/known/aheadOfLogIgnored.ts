import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'payouts continue although the chain has used nonces that the log does not have',
  seenIn: 'any gateway after a restored backup',
  file: 'domain/treasury/nonces.ts',
  from: '  const refusal = behindChain(state, minedNonce) ?? objectionTo(state);',
  to: '  const refusal = objectionTo(state);',
  breaks: 'paidOnce',
  specs: ['test/domain/treasury/nonces.test.ts'],
};
