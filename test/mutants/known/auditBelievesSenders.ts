import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the sender in the log is believed, and the refund goes there',
  seenIn: 'refunds to an address that support staff typed',
  file: 'tools/audit/compareInflows.ts',
  from: 'if (counterparty !== null && counterparty !== from &&',
  to: 'if (counterparty === null && counterparty !== from &&',
  breaks: 'fraudFound',
  specs: ['test/tools/audit/attribution.test.ts'],
};
