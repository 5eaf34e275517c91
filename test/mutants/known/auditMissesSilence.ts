import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the audit reports no finding for a webhook that was due and never sent',
  seenIn: 'delivery logs that list sent webhooks and omit unsent ones',
  file: 'tools/audit/compare.ts',
  from: 'if (!first)',
  to: 'if (!first && tellings.length > 1)',
  breaks: 'fraudFound',
  specs: ['test/tools/audit/webhooks.test.ts'],
};
