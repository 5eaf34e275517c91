import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { unpackToCommandError } from '@eventstore/db-client/dist/streams/appendToStream/unpackError.js';
import { convertToCommandError, parseUUID } from '@eventstore/db-client/dist/utils/index.js';
import rpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type messages from '@eventstore/db-client/generated/streams_pb.js';
import type { ClientDuplexStream } from '@grpc/grpc-js';
import { type Appended, type EventStore, Unavailable } from '../../commands/ports.ts';
import { type Append, appendRequest } from './appendRequest.ts';
import type { Connection } from './connection.ts';
import { definiteRefusal, isConnectionLoss, isNotLeader, mayBeWritten, NotAppended, reasonOf } from './failures.ts';

export interface AppendLimits {
  /** How long one attempt may stay unanswered before the identical events are sent again. */
  readonly attempt_ms: number;
  /** How long the outcome is sought in all. */
  readonly append_ms: number;
}

const backoff_ms = { first: 50, most: 1_000 };

/** How long a store may be away before an append is given up that is surely not in it: time enough to find another leader. */
const unsent_ms = 1_000;

type AppendFor = (away_ms: number) => EventStore['append'];

/**
 * Appends, sending until the outcome is known. Resending is safe: at an exact revision the store compares event ids, so
 * whichever copy comes first is written and the others are told its revision. When the time is up the outcome stays unknown:
 * the caller must read the stream before deciding again, which every decision after a failure does.
 * @returns for callers who wait so long for a store that is away, to learn what became of what they have sent
 */
export function createAppending(connection: Connection, limits: AppendLimits, read: EventStore['read']): AppendFor {
  const { reach } = connection;
  const send = createAppendCall(connection);

  async function attempt(append: Append): Promise<Appended> {
    const what = `appending to ${append.stream}`;
    const { revision, position } = await connection.answered(send(append), limits.attempt_ms, what);
    return { revision, position: position ?? (await positionOf(append.stream, revision)) };
  }

  /** An append found to have been written before is answered without a position when its event cannot be read any more. */
  async function positionOf(stream: string, revision: bigint): Promise<bigint> {
    const [event] = await read(stream, { from: revision, max: 1 });
    return event?.position ?? 0n;
  }

  return (away_ms) => async (stream, expected, events) => {
    const append = { stream, expected, events };
    let until_ms = performance.now() + limits.append_ms;
    let unsure = false;
    let lostAt_ms: number | null = null;
    for (let pause_ms = backoff_ms.first; ; pause_ms = Math.min(pause_ms * 2, backoff_ms.most)) {
      try {
        return await attempt(append);
      } catch (error) {
        const refusal = definiteRefusal(error, stream, expected);
        if (refusal !== undefined) throw refusal;
        unsure ||= mayBeWritten(error);
        if (isConnectionLoss(error)) {
          connection.moved();
          // Where the leader is, the client has just been told.
          if (!isNotLeader(error)) reach.lost();
          lostAt_ms ??= performance.now();
          until_ms = Math.min(until_ms, lostAt_ms + (unsure ? away_ms : unsent_ms));
        }
        const left_ms = until_ms - performance.now() - pause_ms;
        if (left_ms <= 0 || !(await reach.whenUp(left_ms))) throw unanswered(append, unsure, error);
        await sleep(pause_ms + randomInt(backoff_ms.first));
      }
    }
  };

  function unanswered({ stream, events }: Append, unsure: boolean, cause: unknown): Unavailable {
    const outcome = unsure
      ? `whether ${events.length} event(s) were appended to ${stream} is unknown; read the stream before deciding again`
      : `nothing was appended to ${stream}`;
    return new Unavailable(
      `no answer from the event store at ${connection.server} (${reasonOf(cause)}): ${outcome}`,
      1,
      {
        cause,
      },
    );
  }
}

interface AppendAnswer {
  readonly revision: bigint;
  /** The server leaves it out when it finds the append written before. */
  readonly position: bigint | null;
}

/** Settles with the server's answer, or rejects with an error of the client. Has no time limit of its own. */
type AppendCall = (append: Append) => Promise<AppendAnswer>;

type Call = ClientDuplexStream<Buffer, messages.BatchAppendResp>;

interface Pending {
  readonly call: Call;
  readonly stream: string;
  readonly resolve: (answer: AppendAnswer) => void;
  readonly reject: (error: unknown) => void;
}

/** The server drops an append that it has not begun by then. Callers stop waiting earlier and send again. */
const deadline_s = 10;

const { path, responseDeserialize } = rpc.StreamsService.batchAppend;
const asIs = (request: Buffer): Buffer => request;

/**
 * Appends over one long BatchAppend call per connection. The official client opens the call, knows the server and reads its
 * errors; the requests are written here. Its own `appendToStream` makes base64 of the data and reads that again, twice,
 * writes every event twice and ties the appends of all its instances together.
 */
function createAppendCall({ client, heard }: Connection): AppendCall {
  const pending = new Map<string, Pending>();

  const open = client['GRPCStreamCreator'](
    rpc.StreamsClient,
    'append',
    (streams) => {
      const settings = client['callArguments']({ requiresLeader: true }, { deadline: Number.POSITIVE_INFINITY });
      const call: Call = streams.makeBidiStreamRequest(path, asIs, responseDeserialize, ...settings);
      return call
        .on('data', answered)
        .on('error', (error) => lost(call, convertToCommandError(error as never)))
        .on('end', () => lost(call, new Error('the server ended the call')));
    },
    new WeakMap(),
  );

  /** An answer that nobody waits for any more, as after a resend, is ignored. */
  function answered(answer: messages.BatchAppendResp): void {
    heard();
    const id = parseUUID(answer.getCorrelationId()) ?? '';
    const waiting = pending.get(id);
    if (!waiting) return;
    pending.delete(id);
    const error = answer.getError();
    if (error) {
      const unwritten = NotAppended.of(error.getCode(), error.getMessage());
      waiting.reject(unwritten ?? unpackToCommandError(error, waiting.stream));
    } else waiting.resolve(answerOf(answer.getSuccess()));
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

function answerOf(success: messages.BatchAppendResp.Success | undefined): AppendAnswer {
  const position = success?.getPosition()?.getCommitPosition();
  return {
    revision: BigInt(success?.getCurrentRevision() ?? 0),
    position: position === undefined ? null : BigInt(position),
  };
}
