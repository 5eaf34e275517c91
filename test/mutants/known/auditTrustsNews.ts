import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a webhook needs no event that it tells of',
  seenIn: 'delivery logs that are counted, and never held against what happened',
  file: 'tools/audit/compareNews.ts',
  from: 'if (!news) return `',
  to: 'if (!news) return telling.where.id ? null : `',
  breaks: 'fraudFound',
  specs: ['test/tools/audit/webhooks.test.ts'],
};
