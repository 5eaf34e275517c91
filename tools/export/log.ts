/** Rows by log position: events themselves, and rows of payments, each at the payment's last event. */
import { eventCodec } from '../../commands/codec.ts';
import { type EventStore, knownEvent } from '../../commands/ports.ts';
import type { StoredEvent } from '../../domain/decider.ts';
import { quoted, type Sql } from '../../projections/sql.ts';
import type { ExportColumn, ExportRow, View } from './formats.ts';
import { type ExportPage, isIn, type Period, type RowSource, selectList, shareOf } from './run.ts';

/**
 * Excluded fields at any depth of an event: salts of ids and deposits, encrypted values, signed transactions (a holder can send them),
 * webhook URLs (some contain a password) and their receivers' answers.
 */
const everywhere: ReadonlySet<string> = new Set([
  'idSalt',
  'salt',
  'ciphertext',
  'formerKeys',
  'bytes',
  'webhookUrl',
  'webhookEndpoints',
  'responsePreview',
]);

/** Excluded fields of certain types: the hash of an API key, addresses of webhooks. */
const inEvents: Readonly<Record<string, readonly string[]>> = {
  ApiKeyIssued: ['hash'],
  WebhookUrlSet: ['url'],
  WebhookEndpointAdded: ['url'],
  PaymentCreated: ['url'],
  WebhookSendStarted: ['url'],
};

/** True for fields that no export contains: those that open, derive or send something, and the answers of webhook receivers. */
export const isWithheld = (type: string, field: string): boolean =>
  everywhere.has(field) || (inEvents[type]?.includes(field) ?? false);

/**
 * An event's data in the current schema version, without excluded fields; null for an event of a newer version, which may contain
 * anything.
 */
export function shownData(stored: StoredEvent): string | null {
  const event = knownEvent(stored, eventCodec.read);
  if (!event) return null;
  return JSON.stringify(event.data, (field, value: unknown) => (isWithheld(event.type, field) ? undefined : value));
}

export interface ExportLogDeps {
  /** The service's own view. */
  readonly store: Pick<EventStore, 'all' | 'read'>;
  /** Position of the last event to read. */
  readonly until: bigint;
  readonly prefixes: readonly string[];
  readonly signal: AbortSignal;
}

/** Events per window: most payments have all of theirs within one. */
const windowEvents = 5_000;

/** @param rowsOf of a part of the log, in order. @param least minimum events of a part, except for the last one */
function followLog(
  { store, until, prefixes, signal }: ExportLogDeps,
  rowsOf: (events: readonly StoredEvent[]) => readonly ExportRow[] | Promise<readonly ExportRow[]>,
  least = 1,
): RowSource {
  return async function* pages(after): AsyncGenerator<ExportPage> {
    // No event has position 0.
    const begun = after === null || after === '0' ? null : BigInt(after);
    if (begun !== null && begun >= until) return;
    let events: StoredEvent[] = [];
    for await (const batch of store.all({ after: begun, prefixes, signal })) {
      events.push(...batch.events.filter(({ position }) => position <= until));
      const ended = batch.live || batch.position >= until;
      if (!ended && events.length < least) continue;
      const position = ended ? until : batch.position;
      yield { rows: await rowsOf(events), upTo: position.toString(), done: shareOf(position, until) };
      if (ended) return;
      events = [];
    }
    signal.throwIfAborted();
  };
}

/** The log's events, without excluded fields. */
export const eventsOfLog = (deps: ExportLogDeps, period: Period): RowSource =>
  followLog(deps, (events) => events.filter(({ metadata }) => isIn(period, metadata.at)).map(rowOf));

function rowOf(stored: StoredEvent): ExportRow {
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
 * Rows of payments with events in this part of the log: each payment once, at its last event there. All views must have reached `until`;
 * rows may be newer, and the next export repeats them.
 */
export function rowsOfChanges(
  deps: ExportLogDeps,
  sql: Sql,
  { view, key }: View,
  columns: readonly ExportColumn[],
): RowSource {
  const select = `SELECT ${selectList(columns)} FROM ${view} WHERE payment_id = ANY($1) ORDER BY ${key.map(quoted).join(', ')}`;
  const rowsOf = async (events: readonly StoredEvent[]): Promise<readonly ExportRow[]> => {
    const ids = await lastHere(deps, sql, events);
    return ids.length === 0 ? [] : await sql.query<ExportRow>(select, [ids]);
  };
  return followLog({ ...deps, prefixes: [paymentPrefix] }, rowsOf, windowEvents);
}

const paymentPrefix = 'payment-';
const readsAtOnce = 100;

/** Payments without a later event up to the end. Their rows avoid most queries of the log. */
async function lastHere(deps: ExportLogDeps, sql: Sql, events: readonly StoredEvent[]): Promise<readonly string[]> {
  const last = new Map(events.map(({ stream, revision }) => [stream.slice(paymentPrefix.length), revision]));
  const rows = await sql.query<{ payment_id: string; revision: bigint }>(
    'SELECT payment_id, revision FROM payments WHERE payment_id = ANY($1)',
    [[...last.keys()]],
  );
  const ids = rows.filter((row) => row.revision === last.get(row.payment_id)).map(({ payment_id }) => payment_id);
  const others = rows.filter((row) => row.revision !== last.get(row.payment_id)).map(({ payment_id }) => payment_id);
  for (let from = 0; from < others.length; from += readsAtOnce) {
    const some = others.slice(from, from + readsAtOnce);
    const ended = await Promise.all(some.map((id) => isLast(deps, id, last.get(id) ?? 0n)));
    ids.push(...some.filter((_, place) => ended[place]));
  }
  return ids;
}

async function isLast({ store, until }: ExportLogDeps, paymentId: string, revision: bigint): Promise<boolean> {
  const [next] = await store.read(`${paymentPrefix}${paymentId}`, { from: revision + 1n, max: 1 });
  return !next || next.position > until;
}
