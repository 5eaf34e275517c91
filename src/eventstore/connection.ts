import { BACKWARDS, END, EventStoreDBClient } from '@eventstore/db-client';
import { Unavailable } from '../../commands/ports.ts';
import { withoutSecrets } from '../environment/withoutSecrets.ts';
import { collect } from './bounds.ts';
import { isConnectionLoss, reasonOf } from './failures.ts';
import { createReachability, type Reachability } from './reachability.ts';

/** The official client and what is known of the way to its server. */
export interface Connection {
  readonly client: EventStoreDBClient;
  readonly reach: Reachability;
  /** For messages: without the user and password a connection string may hold. */
  readonly server: string;
  /** @throws Unavailable when the store is known to be away: nothing has been sent */
  mustBeUp(): void;
  /** Runs a read. @throws Unavailable when the store cannot be reached */
  reading<T>(read: () => Promise<readonly T[]>): Promise<readonly T[]>;
}

export function connect(url: string, probe_ms: number): Connection {
  const client = EventStoreDBClient.connectionString(url);
  const server = withoutSecrets(url);

  /** Any answer will do, also a refusal. */
  const probe = () =>
    readLastOfAll(client, probe_ms).catch((error) => {
      if (isConnectionLoss(error) || error instanceof Unavailable) throw error;
    });
  const reach = createReachability(probe);

  function mustBeUp(): void {
    if (!reach.up) throw new Unavailable(`the event store at ${server} cannot be reached; nothing was sent`);
  }

  /** The first call after a broken connection may fail once more for nothing: hence one more try. */
  async function reading<T>(read: () => Promise<readonly T[]>): Promise<readonly T[]> {
    for (let retried = false; ; retried = true) {
      mustBeUp();
      try {
        return await read();
      } catch (error) {
        if (!isConnectionLoss(error)) throw error;
        if (retried) {
          reach.lost();
          throw new Unavailable(`the event store at ${server} cannot be reached: ${reasonOf(error)}`, 1, {
            cause: error,
          });
        }
      }
    }
  }
  return { client, reach, server, mustBeUp, reading };
}

/** The log's last event, if there is one. */
export const readLastOfAll = (client: EventStoreDBClient, limit_ms: number) =>
  collect(client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 }), limit_ms, 'reading the log');
