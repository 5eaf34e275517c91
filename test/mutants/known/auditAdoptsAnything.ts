import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the audit accepts an adoption with any amount and receiver',
  seenIn: 'suspense accounts that are closed with one line',
  file: 'tools/audit/compare.ts',
  from: "`${amount} of ${asset} (${counterparty ?? 'several or nobody'})`",
  to: "`${amount} of ${asset}${counterparty === '' ? 'nobody' : ''}`",
  breaks: 'fraudFound',
  specs: ['test/tools/audit/operators.test.ts'],
};
