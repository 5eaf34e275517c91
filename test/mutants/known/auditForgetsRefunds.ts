import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a payout is not compared with what was refunded before',
  seenIn: 'two ledgers of one payment: captures and refunds that are checked apart',
  file: 'tools/audit/reckon/payment.ts',
  from: "if (payment.bounced) find('illegalEvent'",
  to: "if (payment.bounced && payment.funded === null) find('illegalEvent'",
  breaks: 'fraudFound',
  specs: ['test/tools/audit/refunds.test.ts'],
};
