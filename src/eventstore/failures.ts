/** How a call to the event store ended when it did not succeed, and what that says of an append. */
import { ErrorType } from '@eventstore/db-client';
import { status } from '@grpc/grpc-js';
import { StreamConflict, Unavailable } from '../../commands/ports.ts';

const typeOf = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null && 'type' in error ? String(error.type) : undefined;

const codeOf = (error: unknown): unknown => (error as { code?: unknown } | null)?.code;

export const reasonOf = (error: unknown): string =>
  (error instanceof Error && error.message) || typeOf(error) || String(error);

/** The connection gave no sign while calls waited for their answers: its node is frozen, or gone without a word. */
export class Silent extends Error {
  override readonly name = 'Silent';
}

/** What the server, or the way to it, makes of a call whatever the call asks. */
const lost: ReadonlySet<string | undefined> = new Set([
  ErrorType.UNAVAILABLE,
  ErrorType.CANCELLED,
  ErrorType.NOT_LEADER,
  ErrorType.DEADLINE_EXCEEDED,
  ErrorType.TIMEOUT,
]);

/** The official client has no type for them: a cluster of which nobody answers, or nobody leads; and a connection cut in the midst. */
const undiscovered = /^Failed to discover after \d+ attempts/;
const leaderless = /No leader info available|Server Is Not Ready/;

/** The server, its leader, or the way to it, is gone. */
export const isConnectionLoss = (error: unknown): boolean =>
  error instanceof Silent ||
  error instanceof NotReady ||
  lost.has(typeOf(error)) ||
  codeOf(error) === status.INTERNAL ||
  undiscovered.test(reasonOf(error)) ||
  leaderless.test(reasonOf(error));

export const isNotLeader = (error: unknown): boolean => typeOf(error) === ErrorType.NOT_LEADER;

/** Nothing was sent, or nobody took it. */
const isUnsent = (error: unknown): boolean =>
  isNotLeader(error) ||
  undiscovered.test(reasonOf(error)) ||
  leaderless.test(reasonOf(error)) ||
  /No connection established|Name resolution failed/.test(reasonOf(error));

/** The store's data is not as it was written. */
export const isDamaged = (error: unknown): boolean => codeOf(error) === status.DATA_LOSS;

const unwritten: ReadonlySet<number> = new Set([status.RESOURCE_EXHAUSTED, status.DATA_LOSS]);

/** The store said, by this status, that it cannot write at present. Nothing was appended. */
export class NotAppended extends Unavailable {
  static of(code: number, reason: string): NotAppended | NotReady | null {
    if (code === status.OK && leaderless.test(reason)) return new NotReady(reason);
    return unwritten.has(code) ? new NotAppended(`nothing was appended: ${reason}`) : null;
  }
}

/** The node has no leader at present. Nothing was appended. */
class NotReady extends Error {}

/** Whether an append that failed so may be in the log all the same. */
export const mayBeWritten = (error: unknown): boolean => !isUnsent(error);

export const isMissingStream = (error: unknown): boolean => typeOf(error) === ErrorType.STREAM_NOT_FOUND;

/** The user is not known, his password is another one, or he may not do this. Whose fault it is, the server does not say. */
export class AccessRefused extends Unavailable {
  constructor(cause: unknown) {
    super(
      'the event store refuses the user or password of EVENTSTORE_URL, or this user may not read and write all streams: ' +
        'correct it, or let an administrator of the store do so',
      1,
      { cause },
    );
  }
}

export const isAccessRefused = (error: unknown): boolean => typeOf(error) === ErrorType.ACCESS_DENIED;

const refusals: ReadonlySet<string | undefined> = new Set([
  ErrorType.STREAM_DELETED,
  ErrorType.MAXIMUM_APPEND_SIZE_EXCEEDED,
  ErrorType.MISSING_REQUIRED_METADATA_PROPERTY,
  ErrorType.INVALID_ARGUMENT,
  ErrorType.UNSUPPORTED,
]);

/**
 * The error that an append ends with when the store has definitely refused it; undefined while the outcome is unknown.
 * A wrong version is told by a client error whose message may be empty and whose actual version may be 'no_stream'.
 */
export function definiteRefusal(error: unknown, stream: string, expected: bigint | 'no_stream'): unknown {
  if (typeOf(error) === ErrorType.WRONG_EXPECTED_VERSION) {
    const { actualVersion } = error as { actualVersion?: unknown };
    return new StreamConflict(stream, expected, typeof actualVersion === 'bigint' ? actualVersion : null);
  }
  if (isAccessRefused(error)) return new AccessRefused(error);
  if (error instanceof NotAppended) return error;
  return refusals.has(typeOf(error)) ? error : undefined;
}
