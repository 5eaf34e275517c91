import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a crashed nightly audit counts as clean, because the outcome of another night is still stored',
  seenIn: 'monitors that read the last report without its author and time',
  file: 'src/workers/audit/index.ts',
  from: ' && left && left.at !== before?.at)',
  to: ' && left)',
  breaks: 'fraudFound',
  specs: ['test/workers/nightlyAudit.test.ts'],
};
