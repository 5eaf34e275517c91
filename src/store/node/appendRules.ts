/**
 * EventStoreDB's rules of what an append may do, as one pure function: expected version, idempotency, deleted streams.
 * The store compares event ids, never contents.
 */
export type Expected = bigint | 'no_stream' | 'any' | 'stream_exists';

/** What the rules need to know of a stream. */
export interface StreamView {
  /** Revision of its last event, -1 for none. A soft-deleted stream keeps counting from here. */
  readonly last: number;
  readonly tombstoned: boolean;
  readonly softDeleted: boolean;
  /** Its metadata stream has events. */
  readonly hasMetadata: boolean;
  /** Id of the event at a revision between 0 and `last`. */
  idAt(revision: number): string | undefined;
  /** Revision of a recently appended event of this stream: a bounded memory, for appends without exact version. */
  recent(id: string): number | undefined;
}

export type Verdict =
  | { readonly kind: 'write' }
  /** All of it was written before; `last` is the revision of its last event. */
  | { readonly kind: 'repeated'; readonly last: number }
  | { readonly kind: 'wrongVersion' }
  | { readonly kind: 'deleted' };

const write: Verdict = { kind: 'write' };
const wrongVersion: Verdict = { kind: 'wrongVersion' };
const deleted: Verdict = { kind: 'deleted' };

/** @param ids ids of the events to append, in order */
export function judgeAppend(stream: StreamView, expected: Expected, ids: readonly string[]): Verdict {
  if (stream.tombstoned) return deleted;
  if (expected === 'stream_exists') {
    if (stream.softDeleted) return deleted;
    if (stream.last < 0 && !stream.hasMetadata) return wrongVersion;
  }
  if (expected === 'any' || expected === 'stream_exists') return judgeByMemory(stream, ids);

  const revision = expected === 'no_stream' ? -1n : expected;
  if (revision > stream.last) return wrongVersion;
  if (revision === BigInt(stream.last)) return write;
  return judgeByLog(stream, Number(revision) + 1, expected === 'no_stream', ids);
}

/** Without an exact version: written before if all are remembered, new if the first is not. */
function judgeByMemory(stream: StreamView, ids: readonly string[]): Verdict {
  const [first, ...others] = ids.map((id) => stream.recent(id));
  if (first === undefined) return write;
  const last = others.at(-1) ?? first;
  return others.includes(undefined) ? wrongVersion : { kind: 'repeated', last };
}

/** Behind the stream's end: fine only if just these events stand there already. */
function judgeByLog(stream: StreamView, from: number, fresh: boolean, ids: readonly string[]): Verdict {
  const differs = ids.findIndex((id, i) => from + i > stream.last || stream.idAt(from + i) !== id);
  if (differs === 0) return fresh && stream.softDeleted ? write : wrongVersion;
  if (differs > 0 || ids.length === 0) return wrongVersion;
  return { kind: 'repeated', last: from + ids.length - 1 };
}
