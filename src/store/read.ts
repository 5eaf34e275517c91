/** Readings that end: one call each, opened by the official client, which knows the server. What goes over it is written and read here. */
import type { EventStoreDBClient } from '@eventstore/db-client';
import { convertToCommandError, isClientCancellationError } from '@eventstore/db-client/dist/utils/index.js';
import rpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type messages from '@eventstore/db-client/generated/streams_pb.js';
import type { ClientReadableStream } from '@grpc/grpc-js';
import { Unavailable } from '../../commands/ports.ts';
import type { StoredEvent } from '../../domain/decider.ts';
import type { Hearing } from './hearing.ts';
import { readRequest, type Wanted } from './readRequest.ts';
import { recordedEvent } from './recordedEvent.ts';

/** Settles with all that was asked for, or rejects with an error of the client. Has no time limit of its own. */
export interface ReadCall {
  readonly events: Promise<readonly StoredEvent[]>;
  /** Nobody waits for it any more. */
  cancel(): void;
}

type Call = ClientReadableStream<StoredEvent | messages.ReadResp>;

const { path, responseDeserialize } = rpc.StreamsService.read;
const asIs = (request: Buffer): Buffer => request;
/** What is no event says nothing of a reading's content: that there is no such stream, or where it begins and ends. */
const said = (message: Buffer): StoredEvent | messages.ReadResp =>
  recordedEvent(message) ?? responseDeserialize(message);

/** Who closes the connection is told nothing by the server. */
const failureOf = (error: Error): unknown =>
  isClientCancellationError(error as never)
    ? new Unavailable('the connection to the event store was closed while it was read')
    : convertToCommandError(error as never);

/** The official client's own `readStream` hands each event through two streams more and makes three objects of it: it takes twice the time. */
export function readCall(client: EventStoreDBClient, { heard }: Pick<Hearing, 'heard'>, wanted: Wanted): ReadCall {
  const open = client['GRPCStreamCreator'](rpc.StreamsClient, 'read', (streams): Call => {
    const settings = client['callArguments']({ requiresLeader: true }, { deadline: Number.POSITIVE_INFINITY });
    return streams.makeServerStreamRequest(path, asIs, said, readRequest(wanted), ...settings);
  });
  const opened: Promise<Call> = open();
  const events = opened.then(
    (call) =>
      new Promise<readonly StoredEvent[]>((resolve, reject) => {
        const read: StoredEvent[] = [];
        call
          .on('data', (answer: StoredEvent | messages.ReadResp) => {
            heard();
            if ('stream' in answer) read.push(answer);
          })
          .on('error', (error) => reject(failureOf(error)))
          .on('end', () => {
            heard();
            resolve(read);
          });
      }),
  );
  return {
    events,
    // A call cannot be cancelled in the turn that opened it.
    cancel: () => void opened.then((call) => setImmediate(() => call.cancel())).catch(() => {}),
  };
}
