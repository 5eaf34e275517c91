/** Answers to appends, as they come over the wire. */
import { unpackToCommandError } from '@eventstore/db-client/dist/streams/appendToStream/unpackError.js';
import { parseUUID } from '@eventstore/db-client/dist/utils/index.js';
import rpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { NotAppended } from './failures.ts';
import { eachField, textAt } from './wire.ts';

export interface AppendedAt {
  readonly revision: bigint;
  /** The server leaves it out when it finds the append written before. */
  readonly position: bigint | null;
}

export interface AppendAnswer {
  readonly correlationId: string;
  readonly outcome: AppendedAt | AppendFailure;
}

/** @returns an error of the client. @param stream that was to be appended to */
export type AppendFailure = (stream: string) => Error;

const { responseDeserialize } = rpc.StreamsService.batchAppend;

/**
 * Reads a `BatchAppendResp` (event_store.client.streams). That all went well is what nearly every answer says: it is read field by field,
 * at a fifth of what the generated message takes. Every other answer is that message's to read.
 * @throws Error for what is none
 */
export const appendAnswer = (bytes: Buffer): AppendAnswer => plainSuccess(bytes) ?? answerOf(bytes);

/** Null for an answer that says more, or says it otherwise. */
function plainSuccess(bytes: Buffer): AppendAnswer | null {
  let correlationId = '';
  let revision = -1;
  let position = -1;
  let failed = false;
  eachField(bytes, 0, bytes.length, (field, from, to) => {
    if (field === 1) correlationId = uuidIn(bytes, from, to);
    else if (field === 2) failed = true;
    else if (field === 3)
      eachField(bytes, from, to, (of, value, end) => {
        if (of === 1) revision = value;
        else if (of === 3) position = commitIn(bytes, value, end);
      });
  });
  const plain = !failed && correlationId !== '' && isExact(revision) && isExact(position);
  return plain ? { correlationId, outcome: { revision: BigInt(revision), position: BigInt(position) } } : null;
}

const isExact = (number: number): boolean => number >= 0 && number <= Number.MAX_SAFE_INTEGER;

/** Of a `UUID` that is spelled as text; empty for one that is not. */
function uuidIn(bytes: Buffer, from: number, to: number): string {
  let text = '';
  eachField(bytes, from, to, (field, value, end) => {
    if (field === 2) text = textAt(bytes, value, end);
  });
  return text;
}

/** Of an `AllStreamPosition`. */
function commitIn(bytes: Buffer, from: number, to: number): number {
  let commit = -1;
  eachField(bytes, from, to, (field, value) => {
    if (field === 1) commit = value;
  });
  return commit;
}

function answerOf(bytes: Buffer): AppendAnswer {
  const answer = responseDeserialize(bytes);
  const correlationId = parseUUID(answer.getCorrelationId()) ?? '';
  const error = answer.getError();
  if (error) {
    const unwritten = NotAppended.of(error.getCode(), error.getMessage());
    return { correlationId, outcome: (stream) => unwritten ?? unpackToCommandError(error, stream) };
  }
  const success = answer.getSuccess();
  const position = success?.getPosition()?.getCommitPosition();
  return {
    correlationId,
    outcome: {
      revision: BigInt(success?.getCurrentRevision() ?? 0),
      position: position === undefined ? null : BigInt(position),
    },
  };
}
