/** The methods as they are served: each knows the shape of its requests, as EventStoreDB's public protos have them, and looks them over. */
import gossip from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import features from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import streams from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js';
import { batchRequest } from './batchRequest.ts';
import { checkFrame, entry, type Shape } from './frames.ts';

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
const proposed = shape({ 1: uuid, 2: entry, 3: bytes, 4: bytes });
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

/** What each method of the streams service takes. */
export const requestShapes = {
  read: shape({ 1: readOptions }),
  append: shape({ 1: shape(expected), 2: proposed }),
  batchAppend: shape({ 1: uuid, 2: shape({ ...expected, 6: deadline }), 3: proposed, 4: number }),
  delete: change,
  tombstone: change,
} as const;

/** The method, with each of its requests looked over before it is decoded. */
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

/** Replies that can be many are bytes already. */
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
