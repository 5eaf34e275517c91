/**
 * Appends over one long BatchAppend call per connection. The official client opens the call, names its server and reads its
 * errors; the messages are made here. Its own `appendToStream` writes data as base64 and reads that again, twice, serialises
 * every event twice and ties all its instances' appends together: more than half of what a created payment cost.
 */
import { randomUUID } from 'node:crypto';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { unpackToCommandError } from '@eventstore/db-client/dist/streams/appendToStream/unpackError.js';
import { convertToCommandError, createUUID, parseUUID } from '@eventstore/db-client/dist/utils/index.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import rpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import messages from '@eventstore/db-client/generated/streams_pb.js';
import type { ClientDuplexStream } from '@grpc/grpc-js';
import timestamps from 'google-protobuf/google/protobuf/timestamp_pb.js';
import type { SealedEvent } from '../../commands/ports.ts';

export interface AppendAnswer {
  readonly revision: bigint;
  /** The server leaves it out when it finds the append written before. */
  readonly position: bigint | null;
}

/** Settles with the server's answer; waits for as long as the call is open. Rejects with the client's error types. */
export type AppendCall = (
  stream: string,
  expected: bigint | 'no_stream',
  events: readonly SealedEvent[],
) => Promise<AppendAnswer>;

type Call = ClientDuplexStream<messages.BatchAppendReq, messages.BatchAppendResp>;

interface Pending {
  readonly call: Call;
  readonly stream: string;
  readonly resolve: (answer: AppendAnswer) => void;
  readonly reject: (error: unknown) => void;
}

/** The server throws away what it could not begin by then. Callers stop waiting earlier and send again. */
const deadline_ms = 10_000;

export function createAppendCall(client: EventStoreDBClient): AppendCall {
  const pending = new Map<string, Pending>();

  const open = client['GRPCStreamCreator'](
    rpc.StreamsClient,
    'append',
    (streams) => {
      const call = streams.batchAppend(...client['callArguments']({}, { deadline: Number.POSITIVE_INFINITY }));
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

  return async (stream, expected, events) => {
    const call = await open();
    return new Promise((resolve, reject) => {
      const id = randomUUID();
      pending.set(id, { call, stream, resolve, reject });
      call.write(requestOf(id, stream, expected, events));
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

function requestOf(
  id: string,
  stream: string,
  expected: bigint | 'no_stream',
  events: readonly SealedEvent[],
): messages.BatchAppendReq {
  const options = new messages.BatchAppendReq.Options()
    .setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from(stream)))
    .setDeadline(timestamps.Timestamp.fromDate(new Date(Date.now() + deadline_ms)));
  if (expected === 'no_stream') options.setNoStream(new shared.Empty());
  else options.setStreamPosition(expected.toString());
  return new messages.BatchAppendReq()
    .setCorrelationId(createUUID(id))
    .setOptions(options)
    .setProposedMessagesList(events.map(proposed))
    .setIsFinal(true);
}

function proposed({ id, type, data, metadata }: SealedEvent): messages.BatchAppendReq.ProposedMessage {
  const message = new messages.BatchAppendReq.ProposedMessage()
    .setId(createUUID(id))
    .setData(Buffer.from(JSON.stringify(data)))
    .setCustomMetadata(Buffer.from(JSON.stringify(metadata)));
  message.getMetadataMap().set('type', type).set('content-type', 'application/json');
  return message;
}
