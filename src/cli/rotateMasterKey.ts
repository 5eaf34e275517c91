/** `npm run rotate-master-key`: MASTER_KEY takes the place of MASTER_KEY_OLD. The service is stopped meanwhile. */
import { Command, Option } from 'commander';
import { eventCodec } from '../../commands/codec.ts';
import { openEventStore } from '../eventstore/client.ts';
import { changeMasterKey } from '../masterKey/change.ts';
import { openDatabase } from '../postgres/database.ts';
import { migrate } from '../postgres/migrate.ts';
import { randomIds, systemClock } from '../runtime/system.ts';
import { connections, masterKeyOf, type Where } from './connections.ts';
import { operator } from './operator.ts';
import { print, printError } from './print.ts';
import { runProgram, untilInterrupted } from './program.ts';

const options = new Command()
  .name('rotate-master-key')
  .description('Puts MASTER_KEY in the place of MASTER_KEY_OLD. Stop every instance before.')
  .addOption(new Option('--database <url>', 'default: that of the last service').env('DATABASE_URL'))
  .addOption(new Option('--eventstore <url>', 'default: the embedded one').env('EVENTSTORE_URL'))
  .addOption(new Option('--data <directory>', "the service's data directory").env('DATA_DIR').default('./data'))
  .parse()
  .opts<Where>();

await runProgram(() => main(options));

async function main(where: Where): Promise<void> {
  const signal = untilInterrupted('Interrupted: run it again, it goes on where it stopped.');
  const keys = { masterKey: masterKeyOf(where.data), old: masterKeyOf(where.data, 'MASTER_KEY_OLD') };
  const { databaseUrl, eventStoreUrl, close } = await connections(where, 'refuse');
  const database = openDatabase({ url: databaseUrl, applicationName: 'rotate-master-key' });
  const store = openEventStore({ url: eventStoreUrl });
  try {
    await migrate(database);
    const deciding = { clock: systemClock, ids: randomIds, codec: eventCodec };
    const tell = ({ message }: Error): void => printError(message);
    const resealed = await changeMasterKey({ store, sql: database, deciding, tell, by: operator() }, keys, signal);
    if (resealed === null) return print('It was changed before: start the service with MASTER_KEY alone.');
    for (const reason of resealed.left) printError(`Left as it was: ${reason}`);
    print(`Done, ${resealed.count} secrets are under the new key: start the service with MASTER_KEY alone.`);
  } finally {
    await store.close();
    await database.close();
    await close();
  }
}
