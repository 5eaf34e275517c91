/** Request messages → plain values; protocol violations are thrown as the status of the answer. */

import shared from '@eventstore/db-client/generated/shared_pb.js';
import type streams from '@eventstore/db-client/generated/streams_pb.js';
import { Metadata, type ServiceError, status } from '@grpc/grpc-js';
import type { Expected, Proposal } from './changes.ts';
import { Damaged } from './environment.ts';
import { int64Max } from './metadata.ts';
import { CannotWrite } from './room.ts';

export const maxAppendSize_bytes = 1_048_576;

/** An error in the form of EventStoreDB's clients: a status, and trailers that name the error. */
export function serviceError(
  code: status,
  details: string,
  trailers: Readonly<Record<string, string>> = {},
): ServiceError {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(trailers)) metadata.set(name, value);
  return Object.assign(new Error(details), { code, details, metadata });
}

/** The real server's answer when its own argument checks throw. */
export const handlerThrew = (): ServiceError => serviceError(status.UNKNOWN, 'Exception was thrown by handler.');

export const invalidArgument = (details: string): ServiceError => serviceError(status.INVALID_ARGUMENT, details);

export const unknown = (details: string): ServiceError => serviceError(status.UNKNOWN, details);

export const slowExpression = (page_ms: number): ServiceError =>
  serviceError(
    status.INVALID_ARGUMENT,
    `The filter's regular expression took longer than ${page_ms} ms for one page of events: make it simpler, or use prefixes.`,
  );

export const busyExpressions = (most: number): ServiceError =>
  serviceError(
    status.RESOURCE_EXHAUSTED,
    `${most} calls filter by regular expressions already: end one of them, or use prefixes.`,
  );

/** The queue is full. */
export class Busy extends Error {
  override readonly name = 'Busy';
  constructor() {
    super('Server Is Busy');
  }
}

/** Status of a failure: its own if it has one, UNKNOWN otherwise. */
export function asServiceError(error: unknown): ServiceError {
  if (error instanceof CannotWrite) return serviceError(status.RESOURCE_EXHAUSTED, error.message);
  if (error instanceof Damaged) return serviceError(status.DATA_LOSS, error.message);
  if (error instanceof Busy) return serviceError(status.UNAVAILABLE, error.message);
  if (error instanceof Error && 'code' in error && 'metadata' in error) return error as ServiceError;
  return unknown(error instanceof Error ? error.message : String(error));
}

export const streamDeleted = (stream: string): ServiceError =>
  serviceError(status.FAILED_PRECONDITION, `Event stream '${stream}' is deleted.`, {
    exception: 'stream-deleted',
    'stream-name': stream,
  });

/** Only deletions answer a wrong version by status. `expected` in the server's numbers: any -2, none -1, exists -4. */
export const wrongVersion = (stream: string, expected: string, actual: number): ServiceError =>
  serviceError(
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
  serviceError(status.INVALID_ARGUMENT, `Maximum Append Size of ${maxAppendSize_bytes} Exceeded.`, {
    exception: 'maximum-append-size-exceeded',
    'maximum-append-size': maxAppendSize_bytes.toString(),
  });

const requiredProperties = 'type,content-type';

export const missingProperty = (): ServiceError =>
  serviceError(status.INVALID_ARGUMENT, `Required Metadata Property Missing: ${requiredProperties}`, {
    exception: 'missing-required-metadata-property',
    'required-metadata-properties': requiredProperties,
  });

export type WireUuid = shared.UUID;

/** Maximum stream name, so that it fits a key of the index. */
const streamNameMost_bytes = 1_024;
const uint64Max = 0xffff_ffff_ffff_ffffn;
const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const nilUuid = '00000000-0000-0000-0000-000000000000';

export const streamName = (identifier: shared.StreamIdentifier | undefined): string =>
  streamNameOf(identifier?.getStreamName_asU8() ?? new Uint8Array());

export function streamNameOf(bytes: Uint8Array): string {
  if (bytes.length === 0 || bytes.length > streamNameMost_bytes) throw handlerThrew();
  return Buffer.from(bytes).toString('utf8');
}

export function streamIdentifier(name: string): shared.StreamIdentifier {
  return new shared.StreamIdentifier().setStreamName(Buffer.from(name).toString('base64'));
}

/** A UUID's text from either of its two forms. */
export function uuidText(uuid: WireUuid | undefined): string {
  const structured = uuid?.getStructured();
  if (!structured) return uuid?.getString().toLowerCase() ?? '';
  const half = (bits: string): string => BigInt.asUintN(64, BigInt(bits)).toString(16).padStart(16, '0');
  const hex = half(structured.getMostSignificantBits()) + half(structured.getLeastSignificantBits());
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** @param text a UUID in its usual form */
export function structuredUuid(text: string): WireUuid {
  const bits = BigInt(`0x${text.replaceAll('-', '')}`);
  const structured = new shared.UUID.Structured()
    .setMostSignificantBits(BigInt.asIntN(64, bits >> 64n).toString())
    .setLeastSignificantBits(BigInt.asIntN(64, bits).toString());
  return new shared.UUID().setStructured(structured);
}

/** Expected version of an append or a deletion, from any message that contains one. */
export interface ExpectedOptions {
  hasRevision(): boolean;
  getRevision(): string;
  hasNoStream(): boolean;
  hasAny(): boolean;
  hasStreamExists(): boolean;
}

export function expectedVersion(options: ExpectedOptions): Expected {
  if (options.hasRevision()) return exactVersion(BigInt(options.getRevision()));
  if (options.hasNoStream()) return 'no_stream';
  if (options.hasAny()) return 'any';
  if (options.hasStreamExists()) return 'stream_exists';
  throw invalidArgument('The expected stream revision is missing.');
}

export function exactVersion(revision: bigint): Expected {
  if (revision === uint64Max) return 'no_stream';
  if (revision > int64Max) throw handlerThrew();
  return revision;
}

/** An expected version in the form of error trailers. */
export const expectedNumber = (expected: Expected): string =>
  typeof expected === 'bigint' ? expected.toString() : { any: '-2', no_stream: '-1', stream_exists: '-4' }[expected];

/** An event in a request. */
export interface Proposed {
  /** A UUID in lower case, if it is one. */
  readonly id: string;
  readonly type: string | undefined;
  readonly contentType: string | undefined;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
}

export function proposedIn(message: streams.AppendReq.ProposedMessage): Proposed {
  const properties = message.getMetadataMap();
  return {
    id: uuidText(message.getId()),
    type: properties.get('type'),
    contentType: properties.get('content-type'),
    data: message.getData_asU8(),
    metadata: message.getCustomMetadata_asU8(),
  };
}

export function proposal({ id, type, contentType, data, metadata }: Proposed): Proposal {
  if (type === undefined || contentType === undefined) throw missingProperty();
  if (type === '' || !uuidForm.test(id) || id === nilUuid) throw handlerThrew();
  return { id, type, json: contentType === 'application/json', data, metadata };
}
