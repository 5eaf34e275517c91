/** The call Read of the embedded node: reads and subscriptions of one stream or of the whole log. */

import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { handleServerStreamingCall, ServerWritableStream } from '@grpc/grpc-js';
import { Damaged } from './environment.ts';
import { createExpressions, type Expressions } from './expressions.ts';
import { decodeRecord, peekRecord, type RecordedEvent } from './log.ts';
import { asServiceError, invalidArgument, streamDeleted, structuredUuid, unknown, uuidText } from './messages.ts';
import { firstVisible } from './metadata.ts';
import {
  createFilter,
  type EventPageRead,
  isBoundary,
  parseReadRequest,
  type ReadRequest,
  type RecordFilter,
  readLogAfter,
  readLogPage,
  readStreamLive,
  readStreamPage,
  streamState,
} from './reader.ts';
import { bytesOf, caughtUp, checkpointAt, confirmation, outflow, type ReplyStream, streamNotFound } from './replies.ts';
import { pageMost } from './room.ts';
import type { Storage } from './storage.ts';
import { type Tell, troubleOf } from './trouble.ts';
import { type Bell, isHidden } from './writer.ts';

/**
 * Waits for the log to grow. A signal between two waits is remembered. A subscription reads the log itself each time; it has no queue that
 * a slow client could fill.
 */
function growth({ grown, out }: ReadingCall) {
  let rung = false;
  let wake = (): void => {};
  const hear = (): void => {
    rung = true;
    wake();
  };
  out.onCancel(hear);
  return {
    stop: grown.listen(hear),
    async next(): Promise<void> {
      if (!rung && !out.cancelled) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      rung = false;
    },
  };
}

/**
 * Everything after the start, in order. A filtered subscription also gets its progress: after each interval, and before `caughtUp`. A
 * subscriber that falls a page behind catches up again.
 */
export async function subscribeToLog(reading: ReadingCall, { from, filter: wanted }: ReadRequest): Promise<void> {
  const { storage, out, present, filter } = reading;
  const interval = wanted?.checkpointInterval ?? Number.POSITIVE_INFINITY;
  if (!isBoundary(storage, from)) throw invalidArgument('Trying to read from an invalid position.');
  const more = growth(reading);
  let after = from === 'start' ? 0 : from === 'end' ? storage.tail() : from;
  let live = after >= storage.tail();
  let considered = 0;
  let told = -1;

  function checkpoint(position: number): void {
    if (position <= told) return;
    told = position;
    out.write(checkpointAt(position));
  }

  out.write(confirmation(randomUUID()));
  if (live) out.write(caughtUp());
  try {
    while (!out.cancelled) {
      const { found, more: behind } = readLogAfter(storage, after);
      const passes = await filter?.passing(found.map(({ value }) => value));
      for (const [i, { key, value }] of found.entries()) {
        if (out.full) await out.room();
        if (passes?.[i] !== false && !isHidden(value)) out.write(present(value));
        after = key;
        considered++;
        if (considered % interval === 0) checkpoint(key);
      }
      if (behind) {
        live = false;
        await nextTurn();
      } else if (live) await more.next();
      else {
        live = true;
        if (filter) checkpoint(after);
        out.write(caughtUp());
      }
    }
  } finally {
    more.stop();
  }
}

/** Everything after a revision. Catching up respects the stream's metadata; live events ignore it. */
export async function subscribeToStream(
  reading: ReadingCall,
  stream: string,
  from: ReadRequest['from'],
): Promise<void> {
  const { storage, out, present } = reading;
  if (streamState(storage, stream) === 'tombstoned') throw streamDeleted(stream);
  const more = growth(reading);
  const last = (): number => storage.head(stream)?.last ?? -1;
  let after = from === 'end' ? last() : from === 'start' ? -1 : from;
  let live = false;
  out.write(confirmation(randomUUID()));
  try {
    while (!out.cancelled) {
      const page = live
        ? readStreamLive(storage, stream, after)
        : readStreamPage(storage, stream, after + 1, false, pageMost, Date.now());
      for (const record of page.records) {
        if (out.full) await out.room();
        out.write(present(record));
      }
      if (live) after = page.next ?? after;
      else if (page.next !== null) after = page.next - 1;
      else {
        after = Math.max(after, last());
        live = true;
        out.write(caughtUp());
      }
      if (after < last()) await nextTurn();
      else {
        const tombstone = storage.head(stream)?.tombstoned;
        if (tombstone !== undefined) {
          const record = storage.record(tombstone);
          if (record) out.write(present(record));
          throw streamDeleted(stream);
        }
        await more.next();
      }
    }
  } finally {
    more.stop();
  }
}

/** Streams/Read: reads and subscriptions of one stream or of the whole log. */
export function readService(
  storage: Storage,
  grown: Bell,
  tell: Tell = () => {},
): handleServerStreamingCall<streams.ReadReq, Buffer> {
  const expressions = createExpressions();
  return (call) => {
    serve({ storage, grown, expressions }, call).then(
      () => call.end(),
      (error) => {
        if (error instanceof Damaged) tell(troubleOf(error));
        call.emit('error', asServiceError(error));
      },
    );
  };
}

interface Serving {
  readonly storage: Storage;
  readonly grown: Bell;
  readonly expressions: Expressions;
}

async function serve(
  { storage, grown, expressions }: Serving,
  call: ServerWritableStream<streams.ReadReq, Buffer>,
): Promise<void> {
  const request = parseReadRequest(call.request);
  const filter = request.filter && createFilter(request.filter, expressions);
  const reading = { storage, grown, out: outflow(call), present: presenter(storage, request), filter };
  try {
    if (request.subscribe) {
      if (request.stream === null) await subscribeToLog(reading, request);
      else await subscribeToStream(reading, request.stream, request.from);
    } else if (request.stream === null) await readLog(reading, request);
    else await readStream(reading, request.stream, request);
  } finally {
    filter?.end();
  }
}

async function readStream(reading: ReadingCall, stream: string, { from, backwards, max }: ReadRequest): Promise<void> {
  const { storage, out } = reading;
  if (max === 0 || (from === 'end' && !backwards)) throw unknown('Unexpected ReadStreamResult: Error');
  const state = streamState(storage, stream);
  if (state === 'tombstoned') throw streamDeleted(stream);
  if (state === 'missing') return out.write(streamNotFound(stream));
  const now_ms = Date.now();
  const start = edge(from);
  await sendPages(reading, start, max, (next, left) => readStreamPage(storage, stream, next, backwards, left, now_ms));
}

async function readLog(reading: ReadingCall, { from, backwards, max }: ReadRequest): Promise<void> {
  const { storage, filter } = reading;
  if (max === 0 || (backwards ? from === 'start' || from === 0 : from === 'end')) return;
  if (!isBoundary(storage, from)) throw unknown('Unexpected ReadAllResult: InvalidPosition');
  // Backwards, the event at the given position itself is not returned.
  const start = typeof from === 'number' && backwards ? from - 1 : edge(from);
  await sendPages(reading, start, max, (next, left) => readLogPage(storage, next, backwards, filter ? pageMost : left));
}

const edge = (from: ReadRequest['from']): number =>
  from === 'start' ? 0 : from === 'end' ? Number.MAX_SAFE_INTEGER : from;

async function sendPages(
  { out, present, filter }: ReadingCall,
  from: number,
  max: number,
  page: (from: number, left: number) => EventPageRead,
): Promise<void> {
  let left = max;
  for (let next: number | null = from; next !== null && left > 0 && !out.cancelled; ) {
    const { records: found, next: after } = page(next, left);
    const passes = await filter?.passing(found);
    const records = passes ? found.filter((_, i) => passes[i]) : found;
    for (const record of records.slice(0, left)) {
      if (out.full) await out.room();
      out.write(present(record));
    }
    left -= records.length;
    next = after;
    if (next !== null) await nextTurn();
  }
}

/** Converts a record, which is a reply already, into the form that its reader requested. */
export type Present = (record: Buffer) => Buffer;

const linkType = '$>';

/** Records are sent unchanged, unless links must be followed or ids structured. */
function presenter(
  storage: Storage,
  { resolveLinks, structuredIds }: { resolveLinks: boolean; structuredIds: boolean },
): Present {
  if (!resolveLinks && !structuredIds) return (record) => record;
  return (record) => {
    const isLink = resolveLinks && peekRecord(record, 'type') === linkType;
    if (!isLink && !structuredIds) return record;
    const original = decodeRecord(record);
    const target = isLink ? linkTarget(storage, original) : 'malformed';
    const event = new streams.ReadResp.ReadEvent().setCommitPosition(original.getCommitPosition());
    if (target === 'malformed') event.setEvent(original);
    else {
      event.setLink(original);
      if (target) event.setEvent(target);
    }
    if (structuredIds) for (const each of [event.getEvent(), event.getLink()]) structureId(each);
    return bytesOf(new streams.ReadResp().setEvent(event));
  };
}

/** A link's data is `<revision>@<stream>`; null if that event cannot be read any more. */
function linkTarget(storage: Storage, link: RecordedEvent): RecordedEvent | null | 'malformed' {
  const text = Buffer.from(link.getData_asU8()).toString('utf8');
  const at = text.indexOf('@');
  const revision = Number(text.slice(0, at));
  if (at < 1 || !Number.isSafeInteger(revision)) return 'malformed';
  const stream = text.slice(at + 1);
  const head = storage.head(stream);
  if (!head || streamState(storage, stream) !== 'there') return null;
  if (revision < firstVisible(stream, head.last, head.metadata ?? {}) || revision > head.last) return null;
  return decodeRecord(storage.recordAt(head.id, revision));
}

function structureId(event: RecordedEvent | undefined): void {
  const id = event?.getId();
  if (event && id instanceof shared.UUID) event.setId(structuredUuid(uuidText(id)));
}

/** Context of one reading call. */
interface ReadingCall {
  readonly storage: Storage;
  /** Signals that the log has grown. */
  readonly grown: Bell;
  readonly out: ReplyStream;
  readonly present: Present;
  /** Null to read everything. */
  readonly filter: RecordFilter | null;
}
