import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the last payment that the log names for a transfer counts, not the first',
  seenIn: 'event-sourced ledgers whose state is the newest event alone',
  file: 'domain/signing/moneyUse.ts',
  from: 'used ?? data.paymentId',
  to: "used === '' ? used : data.paymentId",
  breaks: 'paidFor',
  specs: ['test/workers/payouts/fundingUses.test.ts', 'test/domain/signing/signing.test.ts'],
};
