/** Rows that follow the log: its events themselves, and rows of payments, each at the last event that its payment has. */
import type { EventStore } from '../../commands/ports.ts';
import type { StoredEvent } from '../../domain/decider.ts';
import { quoted, type Sql } from '../../projections/sql.ts';
import { selectList } from './rows.ts';
import { isIn, type Page, type Period, type Source, shareOf } from './source.ts';
import type { Column, Row, View } from './tables.ts';
import { shownData } from './withheld.ts';

export interface LogDeps {
  /** As the service believes it. */
  readonly store: Pick<EventStore, 'all' | 'read'>;
  /** Position of the last event that is read. */
  readonly until: bigint;
  readonly prefixes: readonly string[];
  readonly signal: AbortSignal;
}

/** @param rowsOf of a batch of the log, in its order */
function followLog(
  { store, until, prefixes, signal }: LogDeps,
  rowsOf: (events: readonly StoredEvent[]) => readonly Row[] | Promise<readonly Row[]>,
): Source {
  return async function* pages(after): AsyncGenerator<Page> {
    let position = after === null ? null : BigInt(after);
    if (position !== null && position >= until) return;
    for await (const batch of store.all({ after: position, prefixes, signal })) {
      const rows = await rowsOf(batch.events.filter((event) => event.position <= until));
      const ended = batch.live || batch.position >= until;
      position = ended ? until : batch.position;
      yield { rows, upTo: position.toString(), done: shareOf(position, until) };
      if (ended) return;
    }
    signal.throwIfAborted();
  };
}

/** The log's events, without what is withheld. */
export const eventsOfLog = (deps: LogDeps, period: Period): Source =>
  followLog(deps, (events) => events.filter(({ metadata }) => isIn(period, metadata.at)).map(rowOf));

function rowOf(stored: StoredEvent): Row {
  const { position, stream, revision, id, type, metadata } = stored;
  return {
    position,
    stream,
    revision,
    event_id: id,
    type,
    at: metadata.at,
    cause: metadata.cause,
    app_id: metadata.appId,
    schema_version: metadata.schemaVersion,
    data: shownData(stored),
  };
}

/**
 * What is about the payments that have events in this part of the log: each payment once, at its last event there. The views must have
 * come to `until`; rows may know more, which the next export brings again.
 */
export function rowsOfChanges(deps: LogDeps, sql: Sql, { view, key }: View, columns: readonly Column[]): Source {
  return followLog({ ...deps, prefixes: [paymentPrefix] }, async (events) => {
    const ids = await lastHere(deps, events);
    if (ids.length === 0) return [];
    return await sql.query<Row>(
      `SELECT ${selectList(columns)} FROM ${view} WHERE payment_id = ANY($1) ORDER BY ${key.map(quoted).join(', ')}`,
      [ids],
    );
  });
}

const paymentPrefix = 'payment-';

/** Those of the batch's payments that have no later event up to the end. */
async function lastHere({ store, until }: LogDeps, events: readonly StoredEvent[]): Promise<readonly string[]> {
  const newest = new Map(events.map((event) => [event.stream, event]));
  const found = await Promise.all(
    [...newest.values()].map(async ({ stream, revision }) => {
      const [next] = await store.read(stream, { from: revision + 1n, max: 1 });
      return !next || next.position > until ? [stream.slice(paymentPrefix.length)] : [];
    }),
  );
  return found.flat();
}
