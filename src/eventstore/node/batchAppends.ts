import type shared from '@eventstore/db-client/generated/shared_pb.js';
import type streams from '@eventstore/db-client/generated/streams_pb.js';
import type { handleBidiStreamingCall } from '@grpc/grpc-js';
import type { Expected } from './appendRules.ts';
import type { Proposal } from './batch.ts';
import type { Outcome } from './changes.ts';
import { exactVersion, proposal, streamIdentifier, streamName, type Uuid, uuidText } from './messages.ts';
import { outflow } from './outflow.ts';
import { Busy, maxAppendSize_bytes } from './problems.ts';
import { batchFailure, batchReply } from './replies.ts';
import type { Writer } from './writer.ts';

/** An append whose last chunk has not come yet. */
interface Gathering {
  readonly stream: string;
  readonly identifier: shared.StreamIdentifier;
  readonly expected: Expected;
  readonly events: Proposal[];
  readonly timer: NodeJS.Timeout | undefined;
  data_bytes: number;
  all_bytes: number;
}

type Result = Parameters<typeof batchReply>[2];

const gatheringMost = 1_024;
const gatheringMost_ms = 2_000;
/** Metadata and types do not count towards the append size; this bounds them. */
const gatheringMost_bytes = 16 * 1024 * 1024;

/**
 * Streams/BatchAppend: appends of many callers over one call, each in one or more chunks told apart by correlation id.
 * Every correlation id is answered exactly once: a second answer would break the official client.
 */
export function batchAppendService(
  writer: Writer,
): handleBidiStreamingCall<streams.BatchAppendReq, streams.BatchAppendResp> {
  return (call) => {
    const out = outflow(call);
    const gathering = new Map<string, Gathering>();
    let executing = 0;
    let halfClosed = false;

    function answer(correlationId: Uuid, identifier: shared.StreamIdentifier, result: Result): void {
      out.write(batchReply(correlationId, identifier, result));
      if (out.full) {
        call.pause();
        void out.room().then(() => call.resume());
      }
    }

    function begin(correlationId: Uuid, key: string, options: streams.BatchAppendReq.Options): Gathering | null {
      const identifier = options.getStreamIdentifier() ?? streamIdentifier('');
      const refuse = (result: Result): null => {
        answer(correlationId, identifier, result);
        return null;
      };
      if (!options.hasStreamIdentifier())
        return refuse(batchFailure.badRequest('Required field stream_identifier not set'));
      const left_ms = Math.min(gatheringMost_ms, timeLeft_ms(options));
      if (left_ms <= 0) return refuse(batchFailure.timeout());
      if (gathering.size >= gatheringMost) return refuse(batchFailure.busy());
      try {
        const stream = streamName(identifier);
        const timer = setTimeout(() => {
          gathering.delete(key);
          refuse(batchFailure.timeout());
        }, left_ms);
        return { stream, identifier, expected: batchExpected(options), events: [], timer, data_bytes: 0, all_bytes: 0 };
      } catch (error) {
        return refuse(batchFailure.badRequest(messageOf(error)));
      }
    }

    function take(request: streams.BatchAppendReq): void {
      const correlationId = request.getCorrelationId();
      if (!correlationId) return;
      const key = uuidText(correlationId);
      const options = request.getOptions();
      let append = gathering.get(key) ?? null;
      if (!append && options) append = begin(correlationId, key, options);
      if (!append) return;
      gathering.set(key, append);

      const refused = add(append, request.getProposedMessagesList());
      if (!refused && !request.getIsFinal()) return;
      gathering.delete(key);
      clearTimeout(append.timer);
      if (refused) answer(correlationId, append.identifier, refused);
      else execute(correlationId, append);
    }

    function execute(correlationId: Uuid, { identifier, stream, expected, events }: Gathering): void {
      executing++;
      writer
        .submit({ kind: 'append', stream, expected, events })
        .then((outcome) => resultOf(outcome, stream, expected), failureOf)
        .then((result) => {
          executing--;
          answer(correlationId, identifier, result);
          endIfIdle();
        });
    }

    function endIfIdle(): void {
      if (halfClosed && executing === 0) call.end();
    }

    call.on('data', take);
    call.on('end', () => {
      halfClosed = true;
      endIfIdle();
    });
    out.onCancel(() => {
      for (const { timer } of gathering.values()) clearTimeout(timer);
      gathering.clear();
    });
  };
}

/** Adds a chunk's events; returns why the append is refused, if it is. */
function add(append: Gathering, messages: readonly streams.BatchAppendReq.ProposedMessage[]): Result | null {
  try {
    for (const message of messages) {
      const event = proposal(message);
      append.data_bytes += event.data.length;
      append.all_bytes += event.data.length + event.metadata.length + event.type.length;
      if (append.data_bytes > maxAppendSize_bytes || append.all_bytes > gatheringMost_bytes)
        return batchFailure.tooLarge();
      append.events.push(event);
    }
    return null;
  } catch (error) {
    return batchFailure.badRequest(messageOf(error));
  }
}

/** Clients send the moment by which they want an answer; none means no hurry. */
function timeLeft_ms(options: streams.BatchAppendReq.Options): number {
  const deadline = options.getDeadline();
  if (!deadline) return Number.POSITIVE_INFINITY;
  return deadline.getSeconds() * 1_000 + deadline.getNanos() / 1_000_000 - Date.now();
}

function batchExpected(options: streams.BatchAppendReq.Options): Expected {
  if (options.hasStreamPosition()) return exactVersion(options.getStreamPosition());
  if (options.hasNoStream()) return 'no_stream';
  if (options.hasStreamExists()) return 'stream_exists';
  if (options.hasAny()) return 'any';
  throw new Error('Required field expected_stream_position not set');
}

function resultOf(outcome: Outcome, stream: string, expected: Expected): Result {
  if (outcome.kind === 'deleted') return batchFailure.deleted(stream);
  if (outcome.kind === 'wrongVersion') return batchFailure.wrongVersion(expected, outcome.current);
  return outcome;
}

const failureOf = (error: unknown): Result => (error instanceof Busy ? batchFailure.busy() : batchFailure.unknown());

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
