/** The newest API requests of each app. Collected in memory and written in batches, so no request waits for Postgres. */

import type { Clock, Ids } from '../../commands/ports.ts';
import { plus } from '../../domain/time.ts';
import type { Sql } from '../../projections/sql.ts';
import type { ApiRequestEntry } from '../../queries/apiRequests.ts';

/** Requests that are kept of one app. */
export const keptRequestsMax = 1_000;
/** Maximum of collected requests of all apps between two writes; further ones are not recorded. */
const collectedMax = 10_000;
const write_ms = 5_000;

/** A request at its end. */
export interface FinishedRequest extends Omit<ApiRequestEntry, 'at'> {
  readonly appId: string;
}

export interface RequestLog {
  record(request: FinishedRequest): void;
  /** Writes the collected requests. After a failure the next write includes them. */
  write(): Promise<void>;
  /** Writes every 5 s, until the signal aborts. */
  keepWriting(clock: Pick<Clock, 'sleep'>, signal: AbortSignal): Promise<void>;
}

type Entry = FinishedRequest & Pick<ApiRequestEntry, 'at'> & { readonly entryId: string };

/** Needs of the log of requests. */
export interface RequestLogDeps {
  readonly sql: Sql;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Pick<Ids, 'eventId'>;
}

export function createRequestLog({ sql, clock, ids }: RequestLogDeps): RequestLog {
  let collected = new Map<string, Entry[]>();
  let count = 0;

  function keep(entry: Entry): void {
    const ofApp = collected.get(entry.appId);
    if (ofApp && ofApp.length >= keptRequestsMax) ofApp.shift();
    else if (count >= collectedMax) return;
    else count += 1;
    if (ofApp) ofApp.push(entry);
    else collected.set(entry.appId, [entry]);
  }

  async function write(): Promise<void> {
    if (count === 0) return;
    const batch = [...collected.values()].flat();
    collected = new Map();
    count = 0;
    try {
      await insert(sql, batch);
    } catch (error) {
      const newer = [...collected.values()].flat();
      collected = new Map();
      count = 0;
      for (const entry of [...batch, ...newer]) keep(entry);
      throw error;
    }
  }

  return {
    record(request) {
      const requestId = looksLikeKey.test(request.requestId) ? 'removed: it looked like a key' : request.requestId;
      keep({ ...request, requestId, entryId: ids.eventId(), at: plus(clock.now(), -request.durationMs) });
    },
    write,
    async keepWriting({ sleep }, signal) {
      while (!signal.aborted) {
        await sleep(write_ms, signal);
        await write().catch(() => {});
      }
    },
  };
}

/** A client chooses the id of its request, so it may put its API key or session token there by mistake. */
const looksLikeKey = /pi_(live|test)_|^eyJ/;

/** A repeated insert after an unknown outcome changes nothing. Keeps the newest requests of each app in the batch. */
async function insert(sql: Sql, batch: readonly Entry[]): Promise<void> {
  const column = <K extends keyof Entry>(name: K): readonly Entry[K][] => batch.map((entry) => entry[name]);
  await sql.query(
    `INSERT INTO ops.api_requests (entry_id, app_id, at, caller, method, route, status, error, request_id, duration_ms)
     SELECT * FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::integer[],
                          $8::text[], $9::text[], $10::integer[])
     ON CONFLICT DO NOTHING`,
    [
      column('entryId'),
      column('appId'),
      column('at'),
      column('caller'),
      column('method'),
      column('route'),
      column('status'),
      column('error'),
      column('requestId'),
      column('durationMs'),
    ],
  );
  await sql.query(
    `DELETE FROM ops.api_requests r
      USING unnest($1::text[]) AS app (id)
      CROSS JOIN LATERAL (SELECT at, entry_id FROM ops.api_requests WHERE app_id = app.id
                           ORDER BY at DESC, entry_id DESC OFFSET $2 LIMIT 1) AS oldest
      WHERE r.app_id = app.id AND (r.at, r.entry_id) <= (oldest.at, oldest.entry_id)`,
    [[...new Set(column('appId'))], keptRequestsMax],
  );
}
