/** The way to the event store: always to its leader, given up when it is lost or silent, and known to be there or not. */
import type { EventStoreDBClient } from '@eventstore/db-client';
import { Unavailable } from '../../commands/ports.ts';
import type { StoredEvent } from '../../domain/decider.ts';
import { withoutSecrets } from '../environment/reader.ts';
import { isConnectionLoss, isDamaged, reasonOf, Silent, unusable } from './failures.ts';
import { createHearing, type Hearing } from './hearing.ts';
import { openClient } from './officialClient.ts';
import { createReachability, type Reachability } from './reach.ts';
import { readCall } from './read.ts';
import type { Wanted } from './readRequest.ts';

/** The official client and what is known of the way to its server. */
export interface Connection extends Hearing {
  readonly client: EventStoreDBClient;
  readonly reach: Reachability;
  /** For messages: without the user and password a connection string may hold. */
  readonly server: string;
  /** Aborts when calls are sent another way from now on: what was opened before is to be opened anew. */
  readonly left: AbortSignal;
  /** Tell of a failure that lost the connection, or found another leader: the client goes another way by itself. */
  moved(): void;
  /** @throws Unavailable when the store is known to be away: nothing has been sent */
  mustBeUp(): void;
  /**
   * What is asked for; nothing of a stream that is not there.
   * @param limit_ms default: the patience of this connection. @throws Unavailable when the store cannot be reached, or takes longer
   */
  read(wanted: Wanted, limit_ms?: number): Promise<readonly StoredEvent[]>;
  close(): Promise<void>;
}

export interface Patience {
  readonly read_ms: number;
  /** How long calls may wait while nothing at all comes from the server. */
  readonly silence_ms: number;
}

/** The first calls after a broken connection, or to a node that has just ceased to lead, may fail once more. */
const triesMost = 3;

export function connect(url: string, { read_ms, silence_ms }: Patience): Connection {
  const opened = openClient(url);
  const { client } = opened;
  const server = withoutSecrets(url);
  const hearing = createHearing(silence_ms, () => {
    moved();
    opened.drop();
  });
  let left = new AbortController();

  function moved(): void {
    left.abort();
    left = new AbortController();
  }

  async function ask(wanted: Wanted, limit_ms = read_ms): Promise<readonly StoredEvent[]> {
    const { events, cancel } = readCall(client, hearing, wanted);
    try {
      return await hearing.answered(events, limit_ms, `reading ${wanted.stream ?? 'the log'}`);
    } catch (error) {
      if (error instanceof Unavailable) cancel();
      throw error;
    }
  }

  /** Any answer will do, also a refusal. */
  const probe = () =>
    ask(lastOfAll).catch((error) => {
      if (isConnectionLoss(error) || error instanceof Unavailable) throw error;
    });
  const reach = createReachability(probe);

  function mustBeUp(): void {
    if (!reach.up) throw new Unavailable(`the event store at ${server} cannot be reached; nothing was sent`);
  }

  async function read(wanted: Wanted, limit_ms?: number): Promise<readonly StoredEvent[]> {
    for (let tries = 1; ; tries += 1) {
      mustBeUp();
      try {
        return await ask(wanted, limit_ms);
      } catch (error) {
        if (isDamaged(error)) throw new Unavailable(reasonOf(error), 1, { cause: error });
        const refused = unusable(error);
        if (!isConnectionLoss(error)) throw refused ?? error;
        moved();
        // Whoever has waited in silence once waits no longer.
        if (tries < triesMost && !(error instanceof Silent)) continue;
        reach.lost();
        throw (
          refused ??
          new Unavailable(`the event store at ${server} cannot be reached: ${reasonOf(error)}`, 1, {
            cause: error,
          })
        );
      }
    }
  }

  return {
    client,
    reach,
    server,
    get left() {
      return left.signal;
    },
    ...hearing,
    moved,
    mustBeUp,
    read,
    async close() {
      reach.close();
      await opened.close();
    },
  };
}

/** The log's last event, if there is one, as its leader has it. */
export const lastOfAll: Wanted = { stream: null, backwards: true, max: 1 };
