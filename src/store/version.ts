/** The server behind EVENTSTORE_URL: its version, by the call of the protocol that names it. */
import features from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import { Metadata } from '@grpc/grpc-js';
import { openWays } from './connection.ts';

const timeout_ms = 5_000;

/**
 * Reads the server's version, such as `24.6.0` or `26.0.3`. The embedded node returns the version that it imitates.
 * @returns null if the server does not know the call or does not answer within 5 s
 * @throws RangeError for a URL that cannot be used
 */
export async function readServerVersion(url: string): Promise<string | null> {
  const ways = openWays(url);
  try {
    const client = await ways.clientOf(features.ServerFeaturesClient);
    return await new Promise((resolve) => {
      client.getSupportedMethods(
        new shared.Empty(),
        new Metadata(),
        { deadline: Date.now() + timeout_ms },
        (error, answer) => {
          resolve(error ? null : answer.getEventStoreServerVersion() || null);
        },
      );
    });
  } finally {
    ways.close();
  }
}
