import type streams from '@eventstore/db-client/generated/streams_pb.js';
import type { handleBidiStreamingCall } from '@grpc/grpc-js';
import type { Expected } from './appendRules.ts';
import type { Outcome } from './changes.ts';
import { type Caller, createGathering, type Gathered } from './gathering.ts';
import { outflow } from './outflow.ts';
import { Busy } from './problems.ts';
import { type BatchResult, batchFailure, batchReply } from './replies.ts';
import type { Writer } from './writer.ts';

/**
 * Streams/BatchAppend: appends of many callers over one call, each in one or more chunks told apart by correlation id.
 * Every correlation id is answered exactly once: a second answer would break the official client.
 */
export function batchAppendService(
  writer: Writer,
): handleBidiStreamingCall<streams.BatchAppendReq, streams.BatchAppendResp> {
  return (call) => {
    const out = outflow(call);
    const gathering = createGathering(execute, answer);
    let executing = 0;
    let halfClosed = false;

    function answer({ correlationId, identifier }: Caller, result: BatchResult): void {
      out.write(batchReply(correlationId, identifier, result));
      if (out.full) {
        // Whoever does not read answers is not asked for more work.
        call.pause();
        void out.room().then(() => call.resume());
      }
    }

    function execute(caller: Caller, { stream, expected, events }: Gathered): void {
      executing++;
      writer
        .submit({ kind: 'append', stream, expected, events })
        .then((outcome) => resultOf(outcome, stream, expected), failureOf)
        .then((result) => {
          executing--;
          answer(caller, result);
          endIfIdle();
        });
    }

    function endIfIdle(): void {
      if (halfClosed && executing === 0) call.end();
    }

    call.on('data', gathering.take);
    call.on('end', () => {
      halfClosed = true;
      endIfIdle();
    });
    out.onCancel(gathering.clear);
  };
}

function resultOf(outcome: Outcome, stream: string, expected: Expected): BatchResult {
  if (outcome.kind === 'deleted') return batchFailure.deleted(stream);
  if (outcome.kind === 'wrongVersion') return batchFailure.wrongVersion(expected, outcome.current);
  return outcome;
}

const failureOf = (error: unknown): BatchResult =>
  error instanceof Busy ? batchFailure.busy() : batchFailure.unknown();
