/** Failures of calls to the event store, and their meaning for an append. */
import { ErrorType, NotLeaderError } from '@eventstore/db-client';
import { status } from '@grpc/grpc-js';
import { StreamConflict, Unavailable } from '../../commands/ports.ts';

const typeOf = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null && 'type' in error ? String(error.type) : undefined;

const codeOf = (error: unknown): unknown => (error as { code?: unknown } | null)?.code;

export const storeReasonOf = (error: unknown): string =>
  (error instanceof Error && error.message) || typeOf(error) || String(error);

/** The connection was silent while calls waited for answers: its node is frozen, or gone without a message. */
export class Silent extends Error {
  override readonly name = 'Silent';
}

/** Failures of the server or the connection, independent of the call. */
const lost: ReadonlySet<string | undefined> = new Set([
  ErrorType.UNAVAILABLE,
  ErrorType.CANCELLED,
  ErrorType.NOT_LEADER,
  ErrorType.DEADLINE_EXCEEDED,
  ErrorType.TIMEOUT,
]);

/** No queried node of the cluster knows a leader. */
export class NoLeader extends Error {
  constructor(reasons: string) {
    super(`no node of the event store names a leader (${reasons})`);
  }
}

/** Neither error has its own type. */
const leaderless = /No leader info available|Server Is Not Ready/;
const unsent = /No connection established|Name resolution failed|Channel has been shut down/;

/** The server, its leader, or the connection to it, is gone. */
export const isConnectionLoss = (error: unknown): boolean =>
  error instanceof Silent ||
  error instanceof NotReady ||
  error instanceof NoLeader ||
  lost.has(typeOf(error)) ||
  codeOf(error) === status.INTERNAL ||
  leaderless.test(storeReasonOf(error)) ||
  unsent.test(storeReasonOf(error));

export const isNotLeader = (error: unknown): boolean => typeOf(error) === ErrorType.NOT_LEADER;

/** Address of the leader in the failure, if any: `host:port`. */
export const leaderOf = (error: unknown): string | null =>
  error instanceof NotLeaderError ? `${error.leader.address}:${error.leader.port}` : null;

/** Nothing was sent, or no node accepted it. */
const isUnsent = (error: unknown): boolean =>
  isNotLeader(error) ||
  error instanceof NoLeader ||
  leaderless.test(storeReasonOf(error)) ||
  unsent.test(storeReasonOf(error));

/** The server has no record that begins at the position of a log read. It has no separate status for that. */
export const isInvalidPosition = (error: unknown): boolean => storeReasonOf(error).includes('InvalidPosition');

/** The store's data is damaged. */
export const isDamaged = (error: unknown): boolean => codeOf(error) === status.DATA_LOSS;

const unwritten: ReadonlySet<number> = new Set([status.RESOURCE_EXHAUSTED, status.DATA_LOSS]);

/** The store's status says that it cannot write at present. Nothing was appended. */
export class NotAppended extends Unavailable {
  static of(code: number, reason: string): NotAppended | NotReady | null {
    if (code === status.OK && leaderless.test(reason)) return new NotReady(reason);
    return unwritten.has(code) ? new NotAppended(`nothing was appended: ${reason}`) : null;
  }
}

/** The node has no leader at present. Nothing was appended. */
class NotReady extends Error {}

/** True if a failed append may be in the log anyway. */
export const mayBeWritten = (error: unknown): boolean => !isUnsent(error);

/** EVENTSTORE_URL does not match the store's requirements. At a start it is a mistake, later perhaps the store's: callers may retry. */
export class Unusable extends Unavailable {
  constructor(why: string, cause: unknown) {
    super(`EVENTSTORE_URL cannot be used: ${why}`, 1, { cause });
  }
}

/** Texts of OpenSSL and Node, the only description of a certificate's problem. */
const certificate = /certificate|altnames/i;
const noTls = /wrong version number|packet length too long|EPROTO/i;

/** The user is unknown or the password is wrong. A missing permission has the status PERMISSION_DENIED. */
export const isUnauthenticated = (error: unknown): boolean => codeOf(error) === status.UNAUTHENTICATED;

/** The user lacks a permission, or the call names no user. */
export const isForbidden = (error: unknown): boolean =>
  typeOf(error) === ErrorType.ACCESS_DENIED && !isUnauthenticated(error);

/** Remedy for EVENTSTORE_URL, or in the store itself; null for any other failure. */
export function unusable(error: unknown): Unusable | null {
  const reason = storeReasonOf(error);
  if (isUnauthenticated(error)) return new Unusable('the store refuses its user or password', error);
  if (isForbidden(error))
    return new Unusable('its user lacks a right in the store; run npm run doctor, which names the right', error);
  if (!isConnectionLoss(error)) return null;
  if (certificate.test(reason))
    return new Unusable(
      `the store's certificate is not believed (${reason}): see tlsCaFile in docs/operate/event-store.md`,
      error,
    );
  return noTls.test(reason) ? new Unusable(`the store answers without TLS (${reason})`, error) : null;
}

const refusals: ReadonlySet<string | undefined> = new Set([
  ErrorType.STREAM_DELETED,
  ErrorType.MAXIMUM_APPEND_SIZE_EXCEEDED,
  ErrorType.MISSING_REQUIRED_METADATA_PROPERTY,
  ErrorType.INVALID_ARGUMENT,
  ErrorType.UNSUPPORTED,
]);

/**
 * Error of an append that the store has definitely refused; undefined while the outcome is unknown. A wrong version is a client error whose
 * message may be empty and whose actual version may be 'no_stream'.
 */
export function definiteRefusal(error: unknown, stream: string, expected: bigint | 'no_stream'): unknown {
  if (typeOf(error) === ErrorType.WRONG_EXPECTED_VERSION) {
    const { actualVersion } = error as { actualVersion?: unknown };
    return new StreamConflict(stream, expected, typeof actualVersion === 'bigint' ? actualVersion : null);
  }
  if (typeOf(error) === ErrorType.ACCESS_DENIED) return unusable(error);
  if (error instanceof NotAppended) return error;
  return refusals.has(typeOf(error)) ? error : undefined;
}
