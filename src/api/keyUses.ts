/** When API keys were last used: by the hour, remembered here and written in batches, so that no request waits for it. */
import type { Clock } from '../../commands/ports.ts';
import type { Instant } from '../../domain/time.ts';
import type { Sql } from '../../projections/sql.ts';

const write_ms = 30_000;
/** Beyond so many keys, further ones wait for the next batch. */
const keysMax = 10_000;

export interface KeyUses {
  used(keyId: string): void;
  /** Writes what is new. A failure leaves it for the next time. */
  write(): Promise<void>;
  /** Every half minute, until the signal aborts. */
  keepWriting(clock: Pick<Clock, 'sleep'>, signal: AbortSignal): Promise<void>;
}

export function createKeyUses(sql: Sql, clock: Pick<Clock, 'now'>): KeyUses {
  const fresh = new Map<string, Instant>();
  const written = new Map<string, Instant>();

  async function write(): Promise<void> {
    if (fresh.size === 0) return;
    const batch = [...fresh];
    await sql.query(
      `INSERT INTO ops.key_uses (key_id, hour) SELECT * FROM unnest($1::text[], $2::timestamptz[])
       ON CONFLICT (key_id) DO UPDATE SET hour = greatest(key_uses.hour, excluded.hour)`,
      [batch.map(([keyId]) => keyId), batch.map(([, hour]) => hour)],
    );
    if (written.size + batch.length > keysMax) written.clear();
    for (const [keyId, hour] of batch) {
      written.set(keyId, hour);
      if (fresh.get(keyId) === hour) fresh.delete(keyId);
    }
  }

  return {
    write,

    used(keyId) {
      const hour = hourOf(clock.now());
      if (written.get(keyId) === hour || (fresh.size >= keysMax && !fresh.has(keyId))) return;
      fresh.set(keyId, hour);
    },

    async keepWriting({ sleep }, signal) {
      while (!signal.aborted) {
        await sleep(write_ms, signal);
        await write().catch(() => {});
      }
    },
  };
}

const hourOf = (at: Instant): Instant => `${at.slice(0, 13)}:00:00.000Z` as Instant;
