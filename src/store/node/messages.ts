/** Request messages → plain values; whatever the protocol refuses is thrown as the status it is answered with. */
import shared from '@eventstore/db-client/generated/shared_pb.js';
import type streams from '@eventstore/db-client/generated/streams_pb.js';
import type { Expected } from './appendRules.ts';
import type { Proposal } from './batch.ts';
import { int64Max } from './metadata.ts';
import { handlerThrew, invalidArgument, missingProperty } from './problems.ts';

export type Uuid = shared.UUID;

/** Longest stream name, so that it fits a key of the index. */
const streamNameMost_bytes = 1_024;
const uint64Max = 0xffff_ffff_ffff_ffffn;
const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const nilUuid = '00000000-0000-0000-0000-000000000000';

export const streamName = (identifier: shared.StreamIdentifier | undefined): string =>
  nameOf(identifier?.getStreamName_asU8() ?? new Uint8Array());

export function nameOf(bytes: Uint8Array): string {
  if (bytes.length === 0 || bytes.length > streamNameMost_bytes) throw handlerThrew();
  return Buffer.from(bytes).toString('utf8');
}

export function streamIdentifier(name: string): shared.StreamIdentifier {
  return new shared.StreamIdentifier().setStreamName(Buffer.from(name).toString('base64'));
}

/** A UUID's text out of either of its two forms. */
export function uuidText(uuid: Uuid | undefined): string {
  const structured = uuid?.getStructured();
  if (!structured) return uuid?.getString().toLowerCase() ?? '';
  const half = (bits: string): string => BigInt.asUintN(64, BigInt(bits)).toString(16).padStart(16, '0');
  const hex = half(structured.getMostSignificantBits()) + half(structured.getLeastSignificantBits());
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** @param text a UUID in its usual form */
export function structuredUuid(text: string): Uuid {
  const bits = BigInt(`0x${text.replaceAll('-', '')}`);
  const structured = new shared.UUID.Structured()
    .setMostSignificantBits(BigInt.asIntN(64, bits >> 64n).toString())
    .setLeastSignificantBits(BigInt.asIntN(64, bits).toString());
  return new shared.UUID().setStructured(structured);
}

/** The version an append or a deletion expects, out of any of the messages that hold one. */
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

/** How error trailers spell an expected version. */
export const expectedNumber = (expected: Expected): string =>
  typeof expected === 'bigint' ? expected.toString() : { any: '-2', no_stream: '-1', stream_exists: '-4' }[expected];

/** An event as a request has it. */
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
