import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the audit believes the log about the amount that left with a payout',
  seenIn: 'refund and payout reports that are reconciled with themselves',
  file: 'tools/audit/reckon/legs.ts',
  from: 'if (left > ordered.amount) find(',
  to: 'if (left < 0n) find(',
  breaks: 'fraudFound',
  specs: ['test/tools/audit/amounts.test.ts'],
};
