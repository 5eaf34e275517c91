import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the audit does not compare a payout with earlier refunds',
  seenIn: 'two ledgers of one payment: captures and refunds are checked separately',
  file: 'tools/audit/reckon/payment.ts',
  from: "if (payment.bounced) find('illegalEvent'",
  to: "if (payment.bounced && payment.funded === null) find('illegalEvent'",
  breaks: 'fraudFound',
  specs: ['test/tools/audit/refunds.test.ts'],
};
