/** The calls Append, Delete and Tombstone of the embedded node. */

import type streams from '@eventstore/db-client/generated/streams_pb.js';
import type { handleClientStreamingCall, handleUnaryCall, sendUnaryData } from '@grpc/grpc-js';
import { type ChangeOutcome, type Proposal, type StreamChange, weightOf } from './changes.ts';
import {
  asServiceError,
  type ExpectedOptions,
  expectedNumber,
  expectedVersion,
  handlerThrew,
  maxAppendSize_bytes,
  proposal,
  proposedIn,
  streamDeleted,
  streamName,
  tooLarge,
  wrongVersion,
} from './messages.ts';
import { appended, appendWrongVersion, deletedAt, tombstonedAt } from './replies.ts';
import { appendMost_bytes } from './room.ts';
import type { Writer } from './writer.ts';

/** Streams/Append: options first, then the events, one answer. */
export function appendService(writer: Writer): handleClientStreamingCall<streams.AppendReq, streams.AppendResp> {
  return (call, callback) => {
    let options: Omit<StreamChange, 'events'> | null = null;
    const events: Proposal[] = [];
    let size_bytes = 0;
    let weight_bytes = 0;
    let answered = false;
    const answer = (error: unknown, response: streams.AppendResp | null): void => {
      if (answered) return;
      answered = true;
      if (response) callback(null, response);
      else callback(asServiceError(error));
    };

    function take(message: streams.AppendReq): void {
      const [first, next] = [message.getOptions(), message.getProposedMessage()];
      if (first && !options) {
        const stream = streamName(first.getStreamIdentifier());
        options = { kind: 'append', stream, expected: expectedVersion(first) };
      } else if (next && options) {
        const event = proposal(proposedIn(next));
        size_bytes += event.data.length;
        weight_bytes += weightOf(event);
        if (size_bytes > maxAppendSize_bytes || weight_bytes > appendMost_bytes) throw tooLarge();
        events.push(event);
      } else throw handlerThrew();
    }

    call.on('data', (message: streams.AppendReq) => {
      if (answered) return;
      try {
        take(message);
      } catch (error) {
        answer(error, null);
      }
    });
    call.on('error', () => {
      answered = true;
    });
    call.on('end', () => {
      if (answered) return;
      if (!options) return answer(handlerThrew(), null);
      const change = { ...options, events };
      writer.submit(change).then(
        (outcome) => answerAppend(change, outcome, answer),
        (error) => answer(error, null),
      );
    });
  };
}

function answerAppend(
  { stream, expected }: StreamChange,
  outcome: ChangeOutcome,
  answer: (error: unknown, response: streams.AppendResp | null) => void,
): void {
  if (outcome.kind === 'deleted') answer(streamDeleted(stream), null);
  else if (outcome.kind === 'wrongVersion') answer(null, appendWrongVersion(expected, outcome.current));
  else answer(null, appended(outcome));
}

interface DeletionOptions extends ExpectedOptions {
  getStreamIdentifier(): Parameters<typeof streamName>[0];
}

/** Runs a soft or hard deletion; both are answered with the position of the recording event. */
async function remove(
  writer: Writer,
  kind: 'delete' | 'tombstone',
  options: DeletionOptions | undefined,
): Promise<number> {
  if (!options) throw handlerThrew();
  const stream = streamName(options.getStreamIdentifier());
  const expected = expectedVersion(options);
  const outcome = await writer.submit({ kind, stream, expected, events: [] });
  if (outcome.kind === 'deleted') throw streamDeleted(stream);
  if (outcome.kind === 'wrongVersion') throw wrongVersion(stream, expectedNumber(expected), outcome.current);
  return outcome.position ?? 0;
}

const reply = <T>(answer: Promise<T>, callback: sendUnaryData<T>): void => {
  answer.then(
    (response) => callback(null, response),
    (error) => callback(asServiceError(error)),
  );
};

export const deleteService =
  (writer: Writer): handleUnaryCall<streams.DeleteReq, streams.DeleteResp> =>
  (call, callback) =>
    reply(remove(writer, 'delete', call.request.getOptions()).then(deletedAt), callback);

export const tombstoneService =
  (writer: Writer): handleUnaryCall<streams.TombstoneReq, streams.TombstoneResp> =>
  (call, callback) =>
    reply(remove(writer, 'tombstone', call.request.getOptions()).then(tombstonedAt), callback);
