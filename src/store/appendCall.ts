/** Appends over one long BatchAppend call per connection. */
import { randomUUID } from 'node:crypto';
import { convertToCommandError } from '@eventstore/db-client/dist/utils/index.js';
import rpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { ClientDuplexStream } from '@grpc/grpc-js';
import { type AppendAnswer, type AppendedAt, appendAnswer } from './appendAnswer.ts';
import { type Append, appendRequest } from './appendRequest.ts';
import type { Connection } from './connection.ts';

/** Settles with the server's answer, or rejects with an error of the client. Has no time limit of its own. */
export type AppendCall = (append: Append) => Promise<AppendedAt>;

type Call = ClientDuplexStream<Buffer, AppendAnswer>;

interface Waiting {
  readonly id: string;
  readonly stream: string;
  readonly request: Buffer;
  readonly resolve: (appended: AppendedAt) => void;
  readonly reject: (error: unknown) => void;
}

/** The server drops an append that it has not begun by then. Callers stop waiting earlier and send again. */
const deadline_s = 10;

const { path } = rpc.StreamsService.batchAppend;
const asIs = (request: Buffer): Buffer => request;

/**
 * The official client opens the call and knows the server; what goes over it is written and read here. Its own `appendToStream` makes
 * base64 of the data and reads that again, twice, writes every event twice and ties the appends of all its instances together.
 *
 * What is asked for in one turn of the event loop leaves together: the server then finds more to write to disk at once.
 */
export function createAppendCall({ client, heard }: Connection): AppendCall {
  const sent = new Map<string, Waiting & { readonly call: Call }>();
  let unsent: Waiting[] = [];

  const open = client['GRPCStreamCreator'](
    rpc.StreamsClient,
    'append',
    (streams) => {
      const settings = client['callArguments']({ requiresLeader: true }, { deadline: Number.POSITIVE_INFINITY });
      const call: Call = streams.makeBidiStreamRequest(path, asIs, appendAnswer, ...settings);
      return call
        .on('data', answered)
        .on('error', (error) => lost(call, convertToCommandError(error as never)))
        .on('end', () => lost(call, new Error('the server ended the call')));
    },
    new WeakMap(),
  );

  /** An answer that nobody waits for any more, as after a resend, is ignored. */
  function answered({ correlationId, outcome }: AppendAnswer): void {
    heard();
    const waiting = sent.get(correlationId);
    if (!waiting) return;
    sent.delete(correlationId);
    if (typeof outcome === 'function') waiting.reject(outcome(waiting.stream));
    else waiting.resolve(outcome);
  }

  function lost(call: Call, error: unknown): void {
    for (const [id, waiting] of sent) {
      if (waiting.call !== call) continue;
      sent.delete(id);
      waiting.reject(error);
    }
  }

  async function send(): Promise<void> {
    const all = unsent;
    unsent = [];
    try {
      const call = await open();
      for (const waiting of all) {
        sent.set(waiting.id, { ...waiting, call });
        call.write(waiting.request);
      }
    } catch (error) {
      for (const { reject } of all) reject(error);
    }
  }

  return (append) =>
    new Promise((resolve, reject) => {
      const id = randomUUID();
      const request = appendRequest(id, append, Math.ceil(Date.now() / 1_000) + deadline_s);
      if (unsent.length === 0) setImmediate(send);
      unsent.push({ id, stream: append.stream, request, resolve, reject });
    });
}
