/** The event store: the one of EVENTSTORE_URL, or an embedded node, whose problems are reported to an operator. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, ConfigError, type EventStoreClient } from '../config.ts';
import type { Telemetry } from '../process/telemetry.ts';
import { storeAddress } from './address.ts';
import { NoClient } from './calls.ts';
import { type OpenEventStore, openEventStore } from './client.ts';
import { type EmbeddedNode, spawnEmbeddedNode } from './node/spawn.ts';
import type { Trouble } from './node/trouble.ts';

export interface EmbeddedStore extends EmbeddedNode {
  /** True if it accepts writes: false while its disk is full. */
  canWrite(): boolean;
}

/** @throws NodeNotStarted */
export async function embeddedStore(config: Config, telemetry: Telemetry): Promise<EmbeddedStore> {
  const dataDir = join(config.dataDir, 'eventstore');
  mkdirSync(dataDir, { recursive: true });
  let canWrite = true;
  const node = await spawnEmbeddedNode({
    dataDir,
    onLost(loss) {
      // A restarted node begins without a problem.
      canWrite = true;
      telemetry.alarm(
        'eventStoreLost',
        { ...loss },
        `the embedded event store ${loss.silent ? 'did not answer and was killed' : 'ended unexpectedly'} and is restarted`,
      );
    },
    onTrouble(trouble) {
      if (trouble.kind === 'cannotWrite') canWrite = false;
      if (trouble.kind === 'writesAgain') canWrite = true;
      tellTrouble(telemetry, trouble);
    },
  });
  return {
    url: node.url,
    get pid() {
      return node.pid;
    },
    stop: node.stop,
    canWrite: () => canWrite,
  };
}

function tellTrouble({ alarm, logger }: Telemetry, trouble: Trouble): void {
  if (trouble.kind === 'writesAgain') {
    logger.warn({ directory: trouble.directory }, 'the embedded event store accepts writes again');
  } else if (trouble.kind === 'cannotWrite') {
    alarm('eventStoreCannotWrite', { directory: trouble.directory }, trouble.message);
  } else if (trouble.kind === 'damaged') {
    alarm('eventStoreDamaged', { directory: trouble.directory }, trouble.message);
  } else alarm('eventStoreFailed', {}, trouble.message);
}

/** @throws ConfigError for an unusable URL, an unusable certificate in it, or a missing package */
export async function openStore(url: string, client: EventStoreClient, { logger }: Telemetry): Promise<OpenEventStore> {
  try {
    const { unknown } = storeAddress(url);
    if (unknown.length > 0)
      logger.warn({ options: unknown }, 'EVENTSTORE_URL has options that the client does not know');
    if (client === 'eventstoredb') return openEventStore({ url });
    const { openKurrentStore } = await import('./kurrentStore.ts');
    const store = await openKurrentStore({ url });
    logger.info('the event store is reached through @kurrent/kurrentdb-client');
    return store;
  } catch (error) {
    throw error instanceof RangeError || error instanceof NoClient ? new ConfigError([error.message]) : error;
  }
}
