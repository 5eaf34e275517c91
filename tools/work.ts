/** `npm run work -- …`: lists failed, parked and waiting work for the operator, and retries it. */
import { Command } from 'commander';
import { nameOfChain, waitAnswer } from '../queries/explain/next.ts';
import { failedWork } from '../queries/operations.ts';
import { paymentIdIn } from '../queries/payments.ts';
import { createFailures } from '../src/postgres/failures.ts';
import { countPayoutWaits } from '../src/postgres/payoutWaits.ts';
import { systemClock } from '../src/process/system.ts';
import { openToolDatabase, readEnvironment } from './connections.ts';
import { print, printTable } from './print.ts';
import { addExamples, runProgram } from './program.ts';

const shownMax = 200;
const errorCharacters = 120;

type ToolDatabase = ReturnType<typeof openToolDatabase>;

async function run(command: (database: ToolDatabase) => Promise<void>): Promise<void> {
  const database = openToolDatabase({ url: readEnvironment().databaseUrl, connectionsMax: 1 });
  try {
    await command(database);
  } finally {
    await database.close();
  }
}

/** Transfers that are not signed, and what an operator can do about each reason. */
async function printWaits(database: ToolDatabase): Promise<void> {
  const waits = await countPayoutWaits(database);
  if (waits.length === 0) return;
  print('', 'Transfers that wait for their signature:');
  printTable(
    waits.map(({ chainId, reason, count, since }) => ({
      chain: nameOfChain(chainId),
      reason,
      transfers: Number(count),
      since,
    })),
  );
  for (const reason of new Set(waits.map((wait) => wait.reason))) {
    const { why, operator } = waitAnswer(reason);
    print(`${reason}: ${[why, operator].filter(Boolean).join(' ')}`);
  }
}

const program = new Command('npm run work --').description(
  'Lists failed and waiting work, and retries what has failed.',
);

program
  .command('list', { isDefault: true })
  .description('List failed items, the parked ones first, and transfers that wait for their signature, by chain.')
  .action(() =>
    run(async (database) => {
      const failed = await failedWork(database, { max: shownMax, errorCharacters });
      if (failed.length === 0) print('Nothing has failed.');
      else {
        printTable(failed);
        if (failed.some(({ key }) => paymentIdIn(key) !== undefined))
          print('npm run explain -- <paymentId> says why a payment is where it is: a key may be its id.');
      }
      await printWaits(database);
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
