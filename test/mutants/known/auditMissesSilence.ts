import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a webhook that was due and never sent is no finding of the audit',
  seenIn: 'delivery logs that tell of what was sent, and are silent about what was not',
  file: 'tools/audit/compareNews.ts',
  from: 'if (!first)',
  to: 'if (!first && tellings.length > 1)',
  breaks: 'fraudFound',
  specs: ['test/tools/audit/webhooks.test.ts'],
};
