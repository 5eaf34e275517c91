/** The served methods: each knows the shape of its requests from EventStoreDB's public protos, and checks them. */

import { isUtf8 } from 'node:buffer';
import gossip from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import features from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import streams from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js';
import { batchRequest } from './appends.ts';
import { partsMost } from './room.ts';

/** Wire types by field number: a nested message, text, bytes, or a number. */
export type Shape = ReadonlyMap<number, Kind>;
type Kind = Shape | 'text' | 'bytes' | 'number';

/** An entry of a text map. The decoder does not skip other fields in it: it would misread the next ones. */
export const mapEntry: Shape = new Map([
  [1, 'text'],
  [2, 'text'],
]);

/** The frame is not a message of the method. */
export class MalformedFrame extends Error {
  override readonly name = 'MalformedFrame';
}

const wireType = { number: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;
const numberMost_bytes = 10;
/** Maximum of a field's number with its wire type. The decoder reads the lower half of a longer one. */
const tagMost = 2 ** 32 - 1;

/**
 * Checks a client's frame before the protobuf decoder reads it. The decoder trusts each nested length and never returns if one points
 * beyond the frame. Also refuses a frame that the decoder would read differently. See https://protobuf.dev/programming-guides/encoding/
 * @throws MalformedFrame unless every length stays within its message, and every field has its own wire type
 */
export function checkFrame(frame: Uint8Array, shape: Shape): void {
  let at = 0;
  let parts = 0;

  function number(end: number): number {
    let value = 0;
    for (let count = 0, scale = 1; count < numberMost_bytes; count++, scale *= 128) {
      if (at >= end) throw new MalformedFrame('a number is cut off');
      const next = frame[at++] ?? 0;
      value += (next & 127) * scale;
      if (next < 128) return value;
    }
    throw new MalformedFrame(`a number is longer than ${numberMost_bytes} bytes`);
  }

  /** End of a field of this length. */
  function endOf(length: number, end: number): number {
    if (length > end - at) throw new MalformedFrame('a length points beyond its message');
    return at + length;
  }

  function field(fields: Shape, end: number): void {
    const tag = number(end);
    const [name, type] = [Math.floor(tag / 8), tag % 8];
    const kind = fields.get(name);
    if (tag > tagMost) throw new MalformedFrame('the number of a field is too large');
    if (!kind && fields === mapEntry) throw new MalformedFrame(`an entry of a map has no field ${name}`);
    if (name === 0 || (kind && type !== (kind === 'number' ? wireType.number : wireType.bytes))) {
      throw new MalformedFrame(`field ${name} cannot have the wire type ${type}`);
    }
    if (type === wireType.number) number(end);
    else if (type === wireType.fixed64) at = endOf(8, end);
    else if (type === wireType.fixed32) at = endOf(4, end);
    else if (type === wireType.bytes) part(kind, endOf(number(end), end));
    else throw new MalformedFrame(`the wire type ${type} is not in use`);
  }

  function part(kind: Kind | undefined, end: number): void {
    if (kind && ++parts > partsMost) throw new MalformedFrame(`a frame has at most ${partsMost} parts`);
    // The decoder would read a truncated character beyond the end of its text.
    if (kind === 'text' && !isUtf8(frame.subarray(at, end))) throw new MalformedFrame('a text is not UTF-8');
    if (typeof kind === 'object') message(kind, end);
    else at = end;
  }

  function message(fields: Shape, end: number): void {
    while (at < end) field(fields, end);
  }

  message(shape, frame.length);
}

const shape = (fields: Readonly<Record<number, Shape | 'text' | 'bytes' | 'number'>>): Shape =>
  new Map(Object.entries(fields).map(([name, kind]) => [Number(name), kind]));

const number = 'number';
const text = 'text';
const bytes = 'bytes';
const empty = shape({});
const uuid = shape({ 1: shape({ 1: number, 2: number }), 2: text });
const streamIdentifier = shape({ 3: bytes });
const expected = { 1: streamIdentifier, 2: number, 3: empty, 4: empty, 5: empty } as const;
const deadline = shape({ 1: number, 2: number });
const proposed = shape({ 1: uuid, 2: mapEntry, 3: bytes, 4: bytes });
const expression = shape({ 1: text, 2: text });

const readOptions = shape({
  1: shape({ 1: streamIdentifier, 2: number, 3: empty, 4: empty }),
  2: shape({ 1: shape({ 1: number, 2: number }), 2: empty, 3: empty }),
  3: number,
  4: number,
  5: number,
  6: empty,
  7: shape({ 1: expression, 2: expression, 3: number, 4: empty, 5: number }),
  8: empty,
  9: shape({ 1: empty, 2: empty }),
  10: shape({ 1: number }),
});
const change = shape({ 1: shape(expected) });

/** Request shapes of the streams service's methods. */
export const requestShapes = {
  read: shape({ 1: readOptions }),
  append: shape({ 1: shape(expected), 2: proposed }),
  batchAppend: shape({ 1: uuid, 2: shape({ ...expected, 6: deadline }), 3: proposed, 4: number }),
  delete: change,
  tombstone: change,
} as const;

/** The method, with each request checked before it is decoded. */
function checked<M extends { requestDeserialize(frame: Buffer): unknown }>(method: M, takes: Shape): M {
  return {
    ...method,
    requestDeserialize(frame: Buffer) {
      checkFrame(frame, takes);
      return method.requestDeserialize(frame);
    },
  };
}

const { StreamsService: methods } = streams;

/** Methods with many replies return them already encoded. */
const asTheyAre = { responseSerialize: (reply: Buffer): Buffer => reply };

export const streamsService = {
  read: { ...checked(methods.read, requestShapes.read), ...asTheyAre },
  append: checked(methods.append, requestShapes.append),
  batchAppend: {
    ...checked({ ...methods.batchAppend, requestDeserialize: batchRequest }, requestShapes.batchAppend),
    ...asTheyAre,
  },
  delete: checked(methods.delete, requestShapes.delete),
  tombstone: checked(methods.tombstone, requestShapes.tombstone),
} as unknown as ServiceDefinition<UntypedServiceImplementation>;

const untyped = (service: object) => service as ServiceDefinition<UntypedServiceImplementation>;

export const featuresMethods = untyped({
  getSupportedMethods: checked(features.ServerFeaturesService.getSupportedMethods, empty),
});

export const gossipMethods = untyped({ read: checked(gossip.GossipService.read, empty) });
