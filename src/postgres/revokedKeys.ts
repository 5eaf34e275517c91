/** Revoked keys in Postgres, outside the read models, and the instances that must refuse them. */
import type { Clock, RevokedKey, RevokedKeys } from '../../commands/ports.ts';
import type { SqlDatabase } from '../../projections/sql.ts';

export const revokedKeysChannel = 'revoked_keys';

export interface RevocationTimes {
  /** Interval at which an instance reads the list, even without a notification. */
  readonly poll_ms: number;
  /** Age of the last read's start after which an instance answers no request with a key. */
  readonly patience_ms: number;
  /** Interval at which an instance reports that it runs. */
  readonly beat_ms: number;
  /** Silence after which an instance has ended or refuses keys, so nobody waits for it. Above `patience_ms` + `beat_ms`. */
  readonly gone_ms: number;
  /** Maximum wait for instances. Above `gone_ms`, so killed ones are excluded. */
  readonly wait_ms: number;
}

export const revocationTimes: RevocationTimes = {
  poll_ms: 500,
  patience_ms: 3_000,
  beat_ms: 2_000,
  gone_ms: 6_000,
  wait_ms: 8_000,
};

const ask_ms = 50;

export function createRevokedKeys(
  database: SqlDatabase,
  clock: Pick<Clock, 'sleep'>,
  { gone_ms, wait_ms }: Pick<RevocationTimes, 'gone_ms' | 'wait_ms'> = revocationTimes,
): RevokedKeys {
  return {
    add: ({ keyId, appId }: RevokedKey) =>
      database.transaction(async (tx) => {
        // One writer at a time: otherwise a lower number could become visible after a higher one, and no reader would notice it.
        await tx.query('LOCK TABLE ops.revoked_keys IN SHARE ROW EXCLUSIVE MODE');
        await tx.query(
          'INSERT INTO ops.revoked_keys (key_id, app_id) VALUES ($1, $2) ON CONFLICT (key_id) DO NOTHING',
          [keyId, appId],
        );
        await tx.query(`SELECT pg_notify($1, '')`, [revokedKeysChannel]);
      }),

    async unconfirmed(keyId) {
      for (let waited_ms = 0; ; waited_ms += ask_ms) {
        const silent = await database.query<{ name: string }>(
          `SELECT i.name FROM ops.api_instances i JOIN ops.revoked_keys k ON k.key_id = $1 AND i.known < k.number
            WHERE i.heard_at > now() - $2 * interval '1 ms' ORDER BY i.name`,
          [keyId, gone_ms],
        );
        if (silent.length === 0 || waited_ms >= wait_ms) return silent.map(({ name }) => name);
        await clock.sleep(ask_ms);
      }
    },
  };
}
