import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'what left with a payout is what the log says, of any size',
  seenIn: 'refund and payout reports that are reconciled with themselves',
  file: 'tools/audit/reckon/legs.ts',
  from: 'if (left > ordered.amount) find(',
  to: 'if (left < 0n) find(',
  breaks: 'fraudFound',
  specs: ['test/tools/audit/amounts.test.ts'],
};
