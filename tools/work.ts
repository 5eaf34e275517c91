/** `npm run work -- …`: lists failed and parked work for the operator, and retries it. */
import { Command } from 'commander';
import { failedWork } from '../queries/operations.ts';
import { paymentIdIn } from '../queries/payments.ts';
import { createFailures } from '../src/postgres/failures.ts';
import { systemClock } from '../src/process/system.ts';
import { openToolDatabase, readEnvironment } from './connections.ts';
import { print, printTable } from './print.ts';
import { addExamples, runProgram } from './program.ts';

const shownMax = 200;
const errorCharacters = 120;

async function run(command: (database: ReturnType<typeof openToolDatabase>) => Promise<void>): Promise<void> {
  const database = openToolDatabase({ url: readEnvironment().databaseUrl, connectionsMax: 1 });
  try {
    await command(database);
  } finally {
    await database.close();
  }
}

const program = new Command('npm run work --').description('Lists and retries failed work.');

program
  .command('list', { isDefault: true })
  .description('List failed items: parked ones first, then those that wait for the next attempt.')
  .action(() =>
    run(async (database) => {
      const failed = await failedWork(database, { max: shownMax, errorCharacters });
      if (failed.length === 0) print('Nothing has failed.');
      else {
        printTable(failed);
        if (failed.some(({ key }) => paymentIdIn(key) !== undefined))
          print('npm run explain -- <paymentId> says why a payment is where it is: a key may be its id.');
      }
    }),
  );

program
  .command('retry <worker> <key>')
  .description('Retry a parked item. Fix its cause first.')
  .action((worker: string, key: string) =>
    run(async (database) => {
      const freed = await createFailures(database).unpark(worker, key, systemClock.now());
      if (!freed) throw new Error(`${worker} has no failed item ${key}: list them with npm run work -- list`);
      print('The item is due again.');
    }),
  );

program
  .command('dismiss <worker> <key>')
  .description('Delete a failed item. Work that is still due appears again.')
  .action((worker: string, key: string) =>
    run(async (database) => {
      await createFailures(database).succeeded(worker, key);
      print('It is forgotten.');
    }),
  );

addExamples(program, {
  list: '',
  retry: 'webhooks 9c2d4c1e-51e6-4a53-9a57-0d2f6d3b8a11',
  dismiss: 'webhooks 9c2d4c1e-51e6-4a53-9a57-0d2f6d3b8a11',
});

await runProgram(() => program.parseAsync());
