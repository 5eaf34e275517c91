import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the audit accepts a fee that is one unit wrong as rounding',
  seenIn: 'reconciliations with a tolerance: one unit of each payment, for years',
  file: 'tools/audit/reckon/funding.ts',
  from: 'if (!due.includes(fee))',
  to: 'if (!due.some((each) => fee - each <= 1n && each - fee <= 1n))',
  breaks: 'fraudFound',
  specs: ['test/tools/audit/chains.test.ts'],
};
