import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the audit counts any sender’s money as the result of a sweep',
  seenIn: 'reconciliation by amount alone',
  file: 'tools/audit/compare.ts',
  from: 'from === undefined || from.includes(counterparty)',
  to: "from === undefined || counterparty !== ''",
  breaks: 'fraudFound',
  specs: ['test/tools/audit/amounts.test.ts'],
};
