/** Errors as EventStoreDB's clients know them: a status, and trailers that say which. */
import { Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { Damaged } from './damage.ts';
import { CannotWrite } from './room.ts';

export const maxAppendSize_bytes = 1_048_576;

function problem(code: status, details: string, trailers: Readonly<Record<string, string>> = {}): ServiceError {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(trailers)) metadata.set(name, value);
  return Object.assign(new Error(details), { code, details, metadata });
}

/** What the real server answers when its own checks of an argument throw. */
export const handlerThrew = (): ServiceError => problem(status.UNKNOWN, 'Exception was thrown by handler.');

export const invalidArgument = (details: string): ServiceError => problem(status.INVALID_ARGUMENT, details);

export const unknown = (details: string): ServiceError => problem(status.UNKNOWN, details);

export const slowExpression = (page_ms: number): ServiceError =>
  problem(
    status.INVALID_ARGUMENT,
    `The filter's regular expression took longer than ${page_ms} ms for one page of events: make it simpler, or use prefixes.`,
  );

export const busyExpressions = (most: number): ServiceError =>
  problem(
    status.RESOURCE_EXHAUSTED,
    `${most} calls filter by regular expressions already: end one of them, or use prefixes.`,
  );

/** More is waiting than the node takes on. */
export class Busy extends Error {
  override readonly name = 'Busy';
  constructor() {
    super('Server Is Busy');
  }
}

/** The status that a failure is answered with: its own if it is one, UNKNOWN otherwise. */
export function asServiceError(error: unknown): ServiceError {
  if (error instanceof CannotWrite) return problem(status.RESOURCE_EXHAUSTED, error.message);
  if (error instanceof Damaged) return problem(status.DATA_LOSS, error.message);
  if (error instanceof Busy) return problem(status.UNAVAILABLE, error.message);
  if (error instanceof Error && 'code' in error && 'metadata' in error) return error as ServiceError;
  return unknown(error instanceof Error ? error.message : String(error));
}

/** Of a cluster's node that knows who leads. The status is the real server's; clients go by the trailers. */
export const notLeader = (leader: { readonly address: string; readonly port: number }): ServiceError =>
  problem(status.NOT_FOUND, 'Leader info available', {
    exception: 'not-leader',
    'leader-endpoint-host': leader.address,
    'leader-endpoint-port': leader.port.toString(),
  });

export const noLeader = (): ServiceError => problem(status.UNKNOWN, 'No leader info available in response');

export const notReady = (): ServiceError => problem(status.UNAVAILABLE, 'Server Is Not Ready');

export const streamDeleted = (stream: string): ServiceError =>
  problem(status.FAILED_PRECONDITION, `Event stream '${stream}' is deleted.`, {
    exception: 'stream-deleted',
    'stream-name': stream,
  });

/** Only deletions answer a wrong version by status. `expected` as the server numbers it: any -2, none -1, exists -4. */
export const wrongVersion = (stream: string, expected: string, actual: number): ServiceError =>
  problem(
    status.FAILED_PRECONDITION,
    `Delete failed due to WrongExpectedVersion. Stream: ${stream}, Expected version: ${expected}, Actual version: ${actual}`,
    {
      exception: 'wrong-expected-version',
      'stream-name': stream,
      'expected-version': expected,
      'actual-version': actual.toString(),
    },
  );

export const tooLarge = (): ServiceError =>
  problem(status.INVALID_ARGUMENT, `Maximum Append Size of ${maxAppendSize_bytes} Exceeded.`, {
    exception: 'maximum-append-size-exceeded',
    'maximum-append-size': maxAppendSize_bytes.toString(),
  });

const requiredProperties = 'type,content-type';

export const missingProperty = (): ServiceError =>
  problem(status.INVALID_ARGUMENT, `Required Metadata Property Missing: ${requiredProperties}`, {
    exception: 'missing-required-metadata-property',
    'required-metadata-properties': requiredProperties,
  });
