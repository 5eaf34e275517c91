import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the audit compares withdrawals with the limit one by one',
  seenIn: 'banks: transfers just below the reporting threshold',
  file: 'tools/audit/run.ts',
  from: 'if (sum > most && value <= most)',
  to: 'if (value > most)',
  breaks: 'fraudFound',
  specs: ['test/tools/audit/operators.test.ts'],
};
