import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the audit trusts the sender in the log, to whom the refund goes',
  seenIn: 'refunds to an address that support staff typed',
  file: 'tools/audit/compareInflows.ts',
  from: 'if (counterparty !== null && counterparty !== from &&',
  to: 'if (counterparty === null && counterparty !== from &&',
  breaks: 'fraudFound',
  specs: ['test/tools/audit/attribution.test.ts'],
};
