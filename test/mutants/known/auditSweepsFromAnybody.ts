import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the audit counts money of any sender as what a sweep brought',
  seenIn: 'reconciliation by amount alone',
  file: 'tools/audit/compare.ts',
  from: 'from === undefined || from.includes(counterparty)',
  to: "from === undefined || counterparty !== ''",
  breaks: 'fraudFound',
  specs: ['test/tools/audit/amounts.test.ts'],
};
