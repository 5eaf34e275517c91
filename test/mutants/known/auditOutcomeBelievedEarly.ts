import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a nightly audit that died counts as clean: the outcome of another night lies there',
  seenIn: 'monitors that read the last report, whoever wrote it and when',
  file: 'src/workers/audit/index.ts',
  from: ' && left && left.at !== before?.at)',
  to: ' && left)',
  breaks: 'fraudFound',
  specs: ['test/workers/nightlyAudit.test.ts'],
};
