import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a hanging audit blocks all later audits',
  seenIn: 'nightly jobs behind a lock that is never released',
  file: 'src/workers/audit/nightly.ts',
  from: 'now_ms() - running.began_ms >= auditMost_ms',
  to: 'now_ms() < running.began_ms',
  breaks: 'fraudFound',
  specs: ['test/tools/audit/nightly.test.ts'],
};
