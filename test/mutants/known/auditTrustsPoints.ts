import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the audit accepts a cashback payment without a withdrawal',
  seenIn: 'loyalty points that become money only when they are paid out',
  file: 'tools/audit/compare.ts',
  from: 'if (!cause) find(',
  to: 'if (!cause && where.revision === null) find(',
  breaks: 'fraudFound',
  specs: ['test/tools/audit/cashback.test.ts'],
};
