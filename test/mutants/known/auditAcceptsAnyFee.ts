import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the audit accepts a part of any size as the fee that a token keeps',
  seenIn: 'reconciliation that explains each difference as a fee',
  file: 'tools/audit/claims.ts',
  from: 'return rated < most ? rated : most;',
  to: 'return rated < most ? amount : most;',
  breaks: 'fraudFound',
  specs: ['test/tools/audit/tokenFees.test.ts'],
};
