import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'an hour at which nobody ran the audit is skipped',
  seenIn: 'cron: jobs due while the machine was down are not run later',
  file: 'src/workers/audit/nightly.ts',
  from: 'nextAt(ended_ms(last()) ?? began_ms, at)',
  to: 'nextAt(began_ms, at)',
  breaks: 'fraudFound',
  specs: ['test/tools/audit/nightly.test.ts'],
};
