/** App of a key, checked against the read models, the list of revoked keys and the log. */

import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { filter, type Observable } from 'rxjs';
import { currentState } from '../../commands/handle.ts';
import { type Clock, Unavailable } from '../../commands/ports.ts';
import { merchant } from '../../domain/merchant/state.ts';
import type { Instant } from '../../domain/time.ts';
import type { Sql } from '../../projections/sql.ts';
import { type Caller, findApiKey } from '../../queries/apps.ts';
import type { Core } from '../core.ts';
import { openDatabase } from '../postgres/database.ts';
import type { Notification } from '../postgres/listen.ts';
import { type RevocationTimes, revocationTimes, revokedKeysChannel } from '../postgres/revokedKeys.ts';
import { type RetryDeps, retryUnavailable, startWaits } from '../process/retryUnavailable.ts';

// Known revoked keys: a set in memory that is at most a few seconds old, or no answer at all.

export interface RevocationsDeps {
  /** Separate connection, so requests cannot delay these reads. Its statements have a timeout. */
  readonly sql: Sql;
  /** Contains at least the channel of revoked keys. A lost notification only delays until the next read. */
  readonly notifications: Observable<Notification>;
  readonly clock: Pick<Clock, 'sleep'>;
  /** Monotonic time, which no clock change affects. */
  readonly elapsed_ms: () => number;
  /** Name by which an operator finds this instance. */
  readonly name: string;
  /** Reports that Postgres does not answer at the start. */
  readonly tell: RetryDeps['tell'];
  readonly times?: RevocationTimes;
}

export interface Revocations {
  /** @throws Unavailable if this instance could not read for too long: it must not accept a key that others have revoked */
  isRevoked(keyId: string): boolean;
  /** Stops reading, and other instances no longer wait for this one. */
  close(): Promise<void>;
}

/**
 * Resolves once all keys revoked so far are known; later ones follow at a notification, or at the next read.
 *
 * A revocation waits until all recently active instances know it. An instance that is cut off or was paused is no exception: its timeout
 * counts from the start of its last read, so it refuses all keys before it could accept one revoked meanwhile.
 *
 * @throws Unavailable if the list cannot be read within the start's timeout
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

  /** Reads new entries, and reports this instance's progress when that is due. */
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
    // Reads the last known row again: if it differs, Postgres was restored from a backup and its numbering has restarted.
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
        // No report here: readiness includes it, and requests with keys are refused.
        () => false,
      );
      if (!done || told === known) await clock.sleep(times.poll_ms, AbortSignal.any([ending.signal, wake.signal]));
    }
  }

  await retryUnavailable({ clock, tell }, async () => {
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

/**
 * A slower read is given up while the timeout still runs. A new connection may take longer on busy processors: then only its first read is
 * too late to accept keys.
 */
const readingLimits = { connectionsMax: 1, statementTimeout_ms: 1_000, patience_ms: 500, connecting_ms: 5_000 };
const confirmedMax = 10_000;

/** Uses its own connection. */
export async function openRevocations({ config, clock, notifications, telemetry }: Core): Promise<Revocations> {
  const sql = openDatabase({ url: config.databaseUrl, applicationName: 'revoked keys', ...readingLimits });
  const name = `${hostname()}:${config.port} (process ${process.pid})`;
  const elapsed_ms = () => performance.now();
  const tell = startWaits(telemetry.logger);
  const followed = await followRevocations({ sql, notifications, clock, elapsed_ms, name, tell }).catch(
    async (error: unknown) => {
      await sql.close();
      throw error;
    },
  );
  return {
    isRevoked: followed.isRevoked,
    async close() {
      await followed.close();
      await sql.close();
    },
  };
}

/**
 * Caller of a key's hash. Before an instance accepts a key for the first time, it queries the log as well: the read models may lag behind a
 * revocation, and a Postgres restored from a backup may lack it. Later revocations are in the list.
 */
export function callersByKey({
  reads,
  handle,
  revokedKeys,
}: Pick<Core, 'reads' | 'handle' | 'revokedKeys'>): (hash: string) => Promise<Caller | null> {
  const confirmed = new Set<string>();

  async function isValid({ keyId, appId }: Caller): Promise<boolean> {
    if (confirmed.has(keyId)) return true;
    const { keys } = await currentState(handle, merchant, appId);
    const key = keys.find((issued) => issued.keyId === keyId);
    if (key?.revoked) await revokedKeys.add({ keyId, appId });
    if (!key || key.revoked) return false;
    if (confirmed.size >= confirmedMax) confirmed.clear();
    confirmed.add(keyId);
    return true;
  }

  return async (hash) => {
    const caller = await findApiKey(reads, hash);
    return caller && (await isValid(caller)) ? caller : null;
  };
}

// Last use of API keys by the hour, collected in memory and written in batches, so no request waits for it.

const write_ms = 30_000;
/** Maximum collected keys; further ones wait for the next batch. */
const keysMax = 10_000;

export interface KeyUses {
  used(keyId: string): void;
  /** Writes new uses. After a failure the next write includes them. */
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
