import type pg from 'pg';
import { Observable, retry, share, timer } from 'rxjs';
import type { Database } from './database.ts';

export interface Notification {
  readonly channel: string;
  readonly payload: string;
}

const reconnect_ms = 500;

/**
 * Notifications of these channels, over one connection for all subscribers; a broken one is reopened. Notifications sent meanwhile are
 * lost, so each (re)connect emits every channel once, with an empty payload.
 */
export function listen(database: Pick<Database, 'connect'>, channels: readonly string[]): Observable<Notification> {
  return new Observable<Notification>((out) => {
    let client: pg.Client | undefined;
    const open = async () => {
      client = await database.connect('listen');
      if (out.closed) return await client.end();
      client.on('notification', ({ channel, payload = '' }) => out.next({ channel, payload }));
      client.on('error', (error) => out.error(error));
      client.on('end', () => out.error(new Error('the LISTEN connection has ended')));
      for (const channel of channels) await client.query(`LISTEN ${client.escapeIdentifier(channel)}`);
      for (const channel of channels) out.next({ channel, payload: '' });
    };
    open().catch((error: unknown) => out.error(error));
    return () => void client?.end().catch(() => {});
  }).pipe(retry({ delay: () => timer(reconnect_ms) }), share());
}
