/** What an instance knows of revoked keys: a set in memory that is never older than a few seconds, or no answer at all. */
import { randomUUID } from 'node:crypto';
import { filter, type Observable } from 'rxjs';
import { type Clock, Unavailable } from '../../commands/ports.ts';
import type { Sql } from '../../projections/sql.ts';
import type { Notification } from '../postgres/listen.ts';
import { type RevocationTimes, revocationTimes, revokedKeysChannel } from '../postgres/revokedKeys.ts';
import { type Patience, patiently } from '../process/retryUnavailable.ts';

export interface RevocationsDeps {
  /** Of its own: requests must not be able to hold these readings up. Its statements end within the patience. */
  readonly sql: Sql;
  /** Of the channel of revoked keys at least. Losing one costs no more than the time until the next reading. */
  readonly notifications: Observable<Notification>;
  readonly clock: Pick<Clock, 'sleep'>;
  /** Time since whenever, which no setting of a clock moves. */
  readonly elapsed_ms: () => number;
  /** What an operator finds this instance by. */
  readonly name: string;
  /** Told while Postgres does not answer at the start. */
  readonly tell: Patience['tell'];
  readonly times?: RevocationTimes;
}

export interface Revocations {
  /** @throws Unavailable when this instance could not ask for too long: it must not accept what others have revoked */
  isRevoked(keyId: string): boolean;
  /** Reads no more, and nobody waits for this instance any more. */
  close(): Promise<void>;
}

/**
 * Knows all keys revoked so far when it resolves, and each later one soon: at a notification, or at the next reading.
 *
 * Whoever revokes a key waits until all instances that have been heard of lately know it. An instance that is cut off or was stopped
 * for a while is no exception: its patience counts from when its last reading began, so it refuses all keys before it could accept
 * one that was revoked in the meantime.
 *
 * @throws Unavailable when the list cannot be read at the start, for as long as a start is patient
 */
export async function followRevocations(deps: RevocationsDeps): Promise<Revocations> {
  const { sql, clock, elapsed_ms, name, tell, times = revocationTimes } = deps;
  const instance = randomUUID();
  const revoked = new Set<string>();
  const ending = new AbortController();
  let known = 0n;
  let told = -1n;
  let told_ms = 0;
  let readBegan_ms = 0;
  let wake = new AbortController();

  /** What is new, and with it, when that is due, the word of what is known already. */
  async function read(): Promise<void> {
    const begun_ms = elapsed_ms();
    const due = told !== known || begun_ms - told_ms >= times.beat_ms;
    const rows = await sql.query<{ number: bigint; key_id: string }>(
      `WITH beat AS (
         INSERT INTO ops.api_instances (instance, name, known, heard_at) SELECT $1, $2, $3::bigint, now() WHERE $4::boolean
         ON CONFLICT (instance) DO UPDATE SET known = excluded.known, heard_at = excluded.heard_at)
       SELECT number, key_id FROM ops.revoked_keys WHERE number >= $3::bigint ORDER BY number`,
      [instance, name, known, due],
    );
    if (due) {
      told = known;
      told_ms = begun_ms;
    }
    // The last known row is read again: where it is another one, Postgres came back from a backup and counts its rows anew.
    const isSameList = known === 0n || (rows[0]?.number === known && revoked.has(rows[0].key_id));
    for (const { key_id } of rows) revoked.add(key_id);
    known = isSameList ? (rows.at(-1)?.number ?? known) : 0n;
    readBegan_ms = begun_ms;
  }

  async function follow(): Promise<void> {
    while (!ending.signal.aborted) {
      wake = new AbortController();
      const done = await read().then(
        () => true,
        // No report here: readiness has it, and requests with keys are refused.
        () => false,
      );
      if (!done || told === known) await clock.sleep(times.poll_ms, AbortSignal.any([ending.signal, wake.signal]));
    }
  }

  await patiently({ clock, tell }, async () => {
    await sql.query(`DELETE FROM ops.api_instances WHERE heard_at < now() - interval '1 hour'`);
    await read();
  });
  const listening = deps.notifications
    .pipe(filter(({ channel }) => channel === revokedKeysChannel))
    .subscribe(() => wake.abort());
  const following = follow();

  return {
    isRevoked(keyId) {
      if (elapsed_ms() - readBegan_ms > times.patience_ms) {
        throw new Unavailable('whether the API key is revoked cannot be known now: the database does not answer');
      }
      return revoked.has(keyId);
    },
    async close() {
      listening.unsubscribe();
      ending.abort();
      await following;
      await sql.query('DELETE FROM ops.api_instances WHERE instance = $1', [instance]).catch(() => {});
    },
  };
}
