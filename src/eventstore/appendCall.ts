/**
 * Appends over one long BatchAppend call per connection. The official client opens the call, knows the server and reads its
 * errors; the requests are written here. Its own `appendToStream` makes base64 of the data and reads that again, twice,
 * writes every event twice and ties the appends of all its instances together.
 */
import { randomUUID } from 'node:crypto';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { unpackToCommandError } from '@eventstore/db-client/dist/streams/appendToStream/unpackError.js';
import { convertToCommandError, parseUUID } from '@eventstore/db-client/dist/utils/index.js';
import rpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type messages from '@eventstore/db-client/generated/streams_pb.js';
import type { ClientDuplexStream } from '@grpc/grpc-js';
import { type Append, appendRequest } from './appendRequest.ts';

export interface AppendAnswer {
  readonly revision: bigint;
  /** The server leaves it out when it finds the append written before. */
  readonly position: bigint | null;
}

/** Settles with the server's answer; waits for as long as the call is open. Rejects with the client's error types. */
export type AppendCall = (append: Append) => Promise<AppendAnswer>;

type Call = ClientDuplexStream<Buffer, messages.BatchAppendResp>;

interface Pending {
  readonly call: Call;
  readonly stream: string;
  readonly resolve: (answer: AppendAnswer) => void;
  readonly reject: (error: unknown) => void;
}

/** The server throws away what it could not begin by then. Callers stop waiting earlier and send again. */
const deadline_s = 10;

const { path, responseDeserialize } = rpc.StreamsService.batchAppend;
const asIs = (request: Buffer): Buffer => request;

export function createAppendCall(client: EventStoreDBClient): AppendCall {
  const pending = new Map<string, Pending>();

  const open = client['GRPCStreamCreator'](
    rpc.StreamsClient,
    'append',
    (streams) => {
      const settings = client['callArguments']({}, { deadline: Number.POSITIVE_INFINITY });
      const call: Call = streams.makeBidiStreamRequest(path, asIs, responseDeserialize, ...settings);
      return call
        .on('data', answered)
        .on('error', (error) => lost(call, convertToCommandError(error as never)))
        .on('end', () => lost(call, new Error('the server ended the call')));
    },
    new WeakMap(),
  );

  /** What answers nothing that is waited for, as after a resend, is passed over. */
  function answered(answer: messages.BatchAppendResp): void {
    const id = parseUUID(answer.getCorrelationId()) ?? '';
    const waiting = pending.get(id);
    if (!waiting) return;
    pending.delete(id);
    const error = answer.getError();
    if (error) waiting.reject(unpackToCommandError(error, waiting.stream));
    else waiting.resolve(placeOf(answer.getSuccess()));
  }

  function lost(call: Call, error: unknown): void {
    for (const [id, waiting] of pending) {
      if (waiting.call !== call) continue;
      pending.delete(id);
      waiting.reject(error);
    }
  }

  return async (append) => {
    const call = await open();
    return new Promise((resolve, reject) => {
      const id = randomUUID();
      pending.set(id, { call, stream: append.stream, resolve, reject });
      call.write(appendRequest(id, append, Math.ceil(Date.now() / 1_000) + deadline_s));
    });
  };
}

function placeOf(success: messages.BatchAppendResp.Success | undefined): AppendAnswer {
  const position = success?.getPosition()?.getCommitPosition();
  return {
    revision: BigInt(success?.getCurrentRevision() ?? 0),
    position: position === undefined ? null : BigInt(position),
  };
}
