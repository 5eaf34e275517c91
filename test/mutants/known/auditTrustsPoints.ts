import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'money that nobody paid in needs no cause: cashback is what its payment says',
  seenIn: 'loyalty points that are first money when they are paid out',
  file: 'tools/audit/compare.ts',
  from: 'if (!cause) find(',
  to: 'if (!cause && where.revision === null) find(',
  breaks: 'fraudFound',
  specs: ['test/tools/audit/cashback.test.ts'],
};
