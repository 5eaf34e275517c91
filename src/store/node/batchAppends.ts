import { type handleBidiStreamingCall, status } from '@grpc/grpc-js';
import type { Expected } from './appendRules.ts';
import { type Proposal, weightOf } from './batch.ts';
import type { AppendChunk, ChunkOptions } from './batchRequest.ts';
import { appendMost_bytes, pendingMost, pendingMost_bytes, pendingMost_ms } from './bounds.ts';
import type { Outcome } from './changes.ts';
import { Damaged } from './damage.ts';
import { exactVersion, nameOf, type Proposed, proposal } from './messages.ts';
import { outflow } from './outflow.ts';
import { Busy, maxAppendSize_bytes } from './problems.ts';
import { type BatchResult, batchFailure, batchReply } from './replies.ts';
import { CannotWrite } from './room.ts';
import type { Seat } from './seat.ts';
import type { Writer } from './writer.ts';

/**
 * Streams/BatchAppend: appends of many callers over one call, each in one or more chunks told apart by correlation id.
 * Every correlation id is answered exactly once: a second answer would break the official client.
 */
export function batchAppendService(
  writer: Writer,
  seat?: Pick<Seat, 'refusal'>,
): handleBidiStreamingCall<AppendChunk, Buffer> {
  return (call) => {
    const out = outflow(call);
    const gathering = createGathering(execute, answer);
    let executing = 0;
    let halfClosed = false;

    function answer({ correlationId, identifier }: Caller, result: BatchResult): void {
      out.write(batchReply(correlationId, identifier, result));
      if (out.full) {
        // No more is read from a caller that does not read its answers.
        call.pause();
        void out.room().then(() => call.resume());
      }
    }

    function execute(caller: Caller, { stream, expected, events }: Gathered): void {
      const refusal = seat?.refusal(call.metadata);
      if (refusal) {
        // Where the leader is ends the call; all else is told of the append alone.
        if (refusal.code === status.NOT_FOUND) call.emit('error', refusal);
        else answer(caller, batchFailure.notReady(refusal.details));
        return;
      }
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

function failureOf(error: unknown): BatchResult {
  if (error instanceof CannotWrite) return batchFailure.cannotWrite(error.message);
  if (error instanceof Damaged) return batchFailure.damaged(error.message);
  return error instanceof Busy ? batchFailure.busy() : batchFailure.unknown();
}

/** Whom an answer goes to. */
export interface Caller {
  /** The `UUID` as it came. */
  readonly correlationId: Uint8Array;
  /** The `StreamIdentifier` as it came, echoed in every answer: clients look at it without asking. */
  readonly identifier: Uint8Array;
}

/** An append of which all chunks have come. */
export interface Gathered {
  readonly stream: string;
  readonly expected: Expected;
  readonly events: readonly Proposal[];
}

/** An append whose last chunk has not come yet. */
interface Pending extends Gathered {
  readonly caller: Caller;
  readonly events: Proposal[];
  /** Runs while chunks are missing. */
  timer?: NodeJS.Timeout;
  readonly left_ms: number;
  data_bytes: number;
  weight_bytes: number;
}

export interface Gathering {
  take(chunk: AppendChunk): void;
  /** Forgets what is not whole, without an answer. */
  clear(): void;
}

/**
 * Puts the chunks of one BatchAppend call together. For every correlation id that came with options exactly one of the two
 * is called, once; a chunk that belongs to nothing is ignored.
 */
export function createGathering(
  whole: (caller: Caller, append: Gathered) => void,
  refused: (caller: Caller, reason: BatchResult) => void,
): Gathering {
  const pending = new Map<string, Pending>();
  let pending_bytes = 0;

  function begin(caller: Caller, options: ChunkOptions): Pending | null {
    const stream = nameOf(options.stream);
    const expected = expectedOf(options);
    const left_ms = Math.min(pendingMost_ms, timeLeft_ms(options));
    const full = pending.size >= pendingMost;
    if (left_ms <= 0 || full) {
      refused(caller, full ? batchFailure.busy() : batchFailure.timeout());
      return null;
    }
    return { caller, stream, expected, events: [], left_ms, data_bytes: 0, weight_bytes: 0 };
  }

  /** Most appends come in one chunk and never wait here. */
  function wait(key: string, append: Pending): void {
    pending.set(key, append);
    append.timer ??= setTimeout(() => finish(key, append, batchFailure.timeout()), append.left_ms);
  }

  function finish(key: string, append: Pending, reason: BatchResult | null): void {
    pending.delete(key);
    pending_bytes -= append.weight_bytes;
    clearTimeout(append.timer);
    if (reason) refused(append.caller, reason);
    else whole(append.caller, append);
  }

  return {
    take({ correlationId, key, options, proposed, final }) {
      let append = pending.get(key) ?? null;
      if (!append && options && correlationId) {
        const caller = { correlationId, identifier: options.identifier };
        try {
          append = begin(caller, options);
        } catch (error) {
          refused(caller, batchFailure.badRequest(messageOf(error)));
        }
      }
      if (!append) return;
      const before_bytes = append.weight_bytes;
      const misfit = add(append, proposed);
      pending_bytes += append.weight_bytes - before_bytes;
      const reason = misfit ?? (pending_bytes > pendingMost_bytes ? batchFailure.busy() : null);
      if (reason || final) finish(key, append, reason);
      else wait(key, append);
    },
    clear() {
      for (const { timer } of pending.values()) clearTimeout(timer);
      pending.clear();
      pending_bytes = 0;
    },
  };
}

/** Adds a chunk's events; returns why the append is refused, if it is. */
function add(append: Pending, proposed: readonly Proposed[]): BatchResult | null {
  try {
    for (const each of proposed) {
      const event = proposal(each);
      append.data_bytes += event.data.length;
      append.weight_bytes += weightOf(event);
      if (append.data_bytes > maxAppendSize_bytes || append.weight_bytes > appendMost_bytes)
        return batchFailure.tooLarge();
      append.events.push(event);
    }
    return null;
  } catch (error) {
    return batchFailure.badRequest(messageOf(error));
  }
}

/** Clients send the moment by which they want an answer; none means no hurry. */
const timeLeft_ms = ({ deadline_ms }: ChunkOptions): number =>
  deadline_ms === null ? Number.POSITIVE_INFINITY : deadline_ms - Date.now();

function expectedOf({ expected }: ChunkOptions): Expected {
  if (expected === null) throw new Error('Required field expected_stream_position not set');
  return typeof expected === 'bigint' ? exactVersion(expected) : expected;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
