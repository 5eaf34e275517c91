import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'analysts can fill the notification queue, and then the service commits nothing',
  seenIn: 'Postgres with the default rights of every role',
  file: 'src/postgres/analytics.ts',
  from: "'loread', 'lowrite', 'pg_notify', 'pg_logical_emit_message'",
  to: "'loread', 'lowrite', 'pg_logical_emit_message'",
  breaks: 'strangersBounded',
  specs: ['test/postgres/analytics.test.ts'],
};
