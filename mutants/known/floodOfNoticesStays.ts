import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'sessions of analysts that fill the notification queue are not ended',
  seenIn: 'Postgres, where an open transaction that listens keeps the queue from being emptied',
  file: 'src/postgres/analyst.ts',
  from: 'WHERE usename = $1 AND (SELECT pg_notification_queue_usage()) > $2',
  to: 'WHERE usename = $1 AND (SELECT pg_notification_queue_usage()) > $2 + 2',
  breaks: 'strangersBounded',
  specs: ['test/postgres/analytics.test.ts'],
};
