import features from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import {
  type handleBidiStreamingCall,
  type handleServerStreamingCall,
  type handleUnaryCall,
  Server,
  ServerCredentials,
  type ServiceDefinition,
} from '@grpc/grpc-js';
import { featuresService } from '../../src/store/node/node.ts';
import { streamsService } from '../../src/store/node/requests.ts';

export interface Misbehaviour {
  // biome-ignore lint/suspicious/noExplicitAny: a fake may answer anything
  readonly batchAppend?: handleBidiStreamingCall<any, any>;
  // biome-ignore lint/suspicious/noExplicitAny: a fake may answer anything
  readonly read?: handleServerStreamingCall<any, any>;
  /** Default: the answer of the embedded node. */
  // biome-ignore lint/suspicious/noExplicitAny: a fake may answer anything
  readonly getSupportedMethods?: handleUnaryCall<any, any>;
}

/** A server that acts as an event store and then behaves as a test needs; over TLS if it has a certificate. */
export async function fakeServer(
  { getSupportedMethods = featuresService, ...calls }: Misbehaviour,
  tls?: { readonly cert: string; readonly key: string },
): Promise<{ url: string; stop(): void }> {
  const server = new Server();
  server.addService(streamsService, { ...calls });
  server.addService(features.ServerFeaturesService as unknown as ServiceDefinition, {
    getSupportedMethods,
  });
  const credentials = tls
    ? ServerCredentials.createSsl(null, [{ cert_chain: Buffer.from(tls.cert), private_key: Buffer.from(tls.key) }])
    : ServerCredentials.createInsecure();
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', credentials, (error, bound) => (error ? reject(error) : resolve(bound)));
  });
  return { url: `esdb://127.0.0.1:${port}${tls ? '' : '?tls=false'}`, stop: () => server.forceShutdown() };
}
