/** `npm run rotate-master-key`: MASTER_KEY replaces MASTER_KEY_OLD. The service is stopped meanwhile. */
import { join, resolve } from 'node:path';
import { Command, Option } from 'commander';
import { eventCodec } from '../commands/codec.ts';
import type { Sql } from '../projections/sql.ts';
import { migrate } from '../src/postgres/migrate.ts';
import { randomIds, systemClock } from '../src/process/system.ts';
import { openEventStore, patientLimits } from '../src/store/client.ts';
import { spawnEmbeddedNode } from '../src/store/node/spawn.ts';
import { connections, masterKeyOf, openToolDatabase, type StoreLocation } from './connections.ts';
import { changeMasterKey, type Keys } from './masterKey/change.ts';
import { print, printError } from './print.ts';
import { operator, runProgram, untilInterrupted } from './program.ts';

const options = new Command()
  .name('npm run rotate-master-key --')
  .description('Replaces MASTER_KEY_OLD by MASTER_KEY. Stop every instance first.')
  .addOption(new Option('--database <url>', 'Default: the URL of the last service').env('DATABASE_URL'))
  .addOption(new Option('--eventstore <url>', 'Default: the embedded event store').env('EVENTSTORE_URL'))
  .addOption(new Option('--data <directory>', 'Data directory of the service').env('DATA_DIR').default('./data'))
  .option(
    '--signer',
    'Rotate the key of a signer’s own log under the data directory. Rotate the service first, and stop the signer too.',
  )
  .addHelpText('after', '\nExample: npm run rotate-master-key')
  .parse()
  .opts<StoreLocation & { readonly signer?: boolean }>();

await runProgram(() => (options.signer ? ofSigner(options) : ofService(options)));

async function ofService(where: StoreLocation): Promise<void> {
  const keys = keysOf(where);
  const { databaseUrl, eventStoreUrl, close } = await connections(where, 'refuse');
  const database = openToolDatabase({ url: databaseUrl, applicationName: 'rotate-master-key' });
  try {
    await migrate(database);
    await change(eventStoreUrl, database, keys);
  } finally {
    await database.close();
    await close();
  }
}

/** The holder of the directory's lock is alone: refuses a running signer. */
async function ofSigner({ data }: StoreLocation): Promise<void> {
  const keys = keysOf({ data });
  const node = await spawnEmbeddedNode({ dataDir: join(resolve(data), 'eventstore'), patience_ms: 0 });
  try {
    await change(node.url, null, keys);
  } finally {
    await node.stop();
  }
}

function keysOf({ data }: Pick<StoreLocation, 'data'>): Keys {
  return { masterKey: masterKeyOf(data), old: masterKeyOf(data, 'MASTER_KEY_OLD') };
}

async function change(eventStoreUrl: string, sql: Sql | null, keys: Keys): Promise<void> {
  const signal = untilInterrupted('Interrupted: run it again, it goes on where it stopped.');
  const store = openEventStore({ url: eventStoreUrl, ...patientLimits });
  try {
    const deciding = { clock: systemClock, ids: randomIds, codec: eventCodec };
    const tell = ({ message }: Error): void => printError(message);
    const resealed = await changeMasterKey({ store, sql, deciding, tell, by: operator() }, keys, signal);
    if (resealed === null) return print('It was changed before: start the service with MASTER_KEY alone.');
    for (const reason of resealed.left) printError(`Left as it was: ${reason}`);
    print(`Done, ${resealed.count} secrets are under the new key: start the service with MASTER_KEY alone.`);
  } finally {
    await store.close();
  }
}
