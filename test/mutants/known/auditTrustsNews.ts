import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the audit accepts a webhook without its event',
  seenIn: 'delivery logs that are counted and never compared with events',
  file: 'tools/audit/compare.ts',
  from: 'if (!news) return `',
  to: 'if (!news) return telling.where.id ? null : `',
  breaks: 'fraudFound',
  specs: ['test/tools/audit/webhooks.test.ts'],
};
