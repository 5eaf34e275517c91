import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the audit counts a payin for any payment that the log names',
  seenIn: 'gateways that credit a deposit by the order id in the request',
  file: 'tools/audit/compareInflows.ts',
  from: 'if (!atOwnDeposit)',
  to: 'if (!atOwnDeposit && memo !== null)',
  breaks: 'fraudFound',
  specs: ['test/tools/audit/attribution.test.ts'],
};
