import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a payin counts for whichever payment the log names',
  seenIn: 'gateways that credit a deposit by the order id in the request',
  file: 'tools/audit/compareInflows.ts',
  from: 'if (!atOwnDeposit)',
  to: 'if (!atOwnDeposit && memo !== null)',
  breaks: 'fraudFound',
  specs: ['test/tools/audit/attribution.test.ts'],
};
