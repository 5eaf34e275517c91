/** Sorts what @eventstore/db-client throws into the three kinds that matter here. */
import { ErrorType } from '@eventstore/db-client';
import { StreamConflict } from '../../commands/ports.ts';

const typeOf = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null && 'type' in error ? String(error.type) : undefined;

/** The server, or the way to it, is gone. */
export const isConnectionLoss = (error: unknown): boolean =>
  typeOf(error) === ErrorType.UNAVAILABLE || typeOf(error) === ErrorType.CANCELLED;

export const isMissingStream = (error: unknown): boolean => typeOf(error) === ErrorType.STREAM_NOT_FOUND;

const refusals: ReadonlySet<string | undefined> = new Set([
  ErrorType.STREAM_DELETED,
  ErrorType.MAXIMUM_APPEND_SIZE_EXCEEDED,
  ErrorType.ACCESS_DENIED,
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
  return refusals.has(typeOf(error)) ? error : undefined;
}

export const reasonOf = (error: unknown): string =>
  (error instanceof Error && error.message) || typeOf(error) || String(error);
