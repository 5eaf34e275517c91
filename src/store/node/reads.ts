import { setImmediate as nextTurn } from 'node:timers/promises';
import type streams from '@eventstore/db-client/generated/streams_pb.js';
import type { handleServerStreamingCall, ServerWritableStream } from '@grpc/grpc-js';
import { pageMost } from './bounds.ts';
import { Damaged } from './damage.ts';
import { createExpressions, type Expressions } from './expressions.ts';
import { createFilter } from './filters.ts';
import { outflow } from './outflow.ts';
import type { Reading } from './present.ts';
import { presenter } from './present.ts';
import { asServiceError, streamDeleted, unknown } from './problems.ts';
import { isBoundary, type Page, readLogPage, readStreamPage, streamState } from './reader.ts';
import { type ReadRequest, readRequest } from './readRequest.ts';
import { streamNotFound } from './replies.ts';
import type { Storage } from './storage.ts';
import { subscribeToLog, subscribeToStream } from './subscriptions.ts';
import { type Tell, troubleOf } from './trouble.ts';
import type { Bell } from './writer.ts';

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
  const request = readRequest(call.request);
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

async function readStream(reading: Reading, stream: string, { from, backwards, max }: ReadRequest): Promise<void> {
  const { storage, out } = reading;
  if (max === 0 || (from === 'end' && !backwards)) throw unknown('Unexpected ReadStreamResult: Error');
  const state = streamState(storage, stream);
  if (state === 'tombstoned') throw streamDeleted(stream);
  if (state === 'missing') return out.write(streamNotFound(stream));
  const now_ms = Date.now();
  const start = edge(from);
  await sendPages(reading, start, max, (next, left) => readStreamPage(storage, stream, next, backwards, left, now_ms));
}

async function readLog(reading: Reading, { from, backwards, max }: ReadRequest): Promise<void> {
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
  { out, present, filter }: Reading,
  from: number,
  max: number,
  page: (from: number, left: number) => Page,
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
