import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the audit sums a day of withdrawals by the times that the orders state',
  seenIn: 'expense limits computed from a date field of the request',
  file: 'tools/audit/reckon/others.ts',
  from: 'at: entry.at, by: data.by, value_microUsd',
  to: 'at: data.orderedAt, by: data.by, value_microUsd',
  breaks: 'fraudFound',
  specs: ['test/tools/audit/operators.test.ts'],
};
