/** `npm run eventstore`: the embedded event store alone, for auditors and tools. Ctrl-C ends it. */
import { resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { DirectoryInUse, directoryInUseExitCode } from '../src/store/node/lock.ts';
import { startNode } from '../src/store/node/node.ts';
import type { Trouble } from '../src/store/node/trouble.ts';
import { print, printError, printFailure } from './print.ts';

function port(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 0 || number > 65_535) {
    throw new InvalidArgumentError('Use a whole number from 0 (any free port) to 65535.');
  }
  return number;
}

const options = new Command()
  .name('npm run eventstore --')
  .description(
    'Runs the embedded event store alone, on a socket of this user. With --port, any EventStoreDB client can connect.',
  )
  .option(
    '--data <directory>',
    'Data directory',
    process.env['DATA_DIR'] ? `${process.env['DATA_DIR']}/eventstore` : 'data/eventstore',
  )
  .option(
    '--port <number>',
    'Port on 127.0.0.1 instead of the socket. Every user of this machine can then read and append.',
    port,
  )
  .addHelpText('after', '\nExample: npm run eventstore -- --data data/eventstore --port 2113')
  .parse()
  .opts<{ data: string; port?: number }>();

/** Nobody restarts it: it ends after a fatal problem. */
function tell(trouble: Trouble): void {
  printError(trouble.kind === 'writesAgain' ? `the event store writes to ${trouble.directory} again` : trouble.message);
  if (trouble.kind === 'broken') process.exit(1);
}

try {
  process.umask(0o077);
  const { data, ...where } = options;
  const node = await startNode({ ...where, dataDir: resolve(data), tell });
  print(`Event store at ${node.url}, data in ${resolve(data)}. Ctrl-C ends it.`);
  const end = async (): Promise<void> => {
    await node.close();
    process.exit();
  };
  process.once('SIGINT', end);
  process.once('SIGTERM', end);
} catch (error) {
  printFailure(error);
  process.exit(error instanceof DirectoryInUse ? directoryInUseExitCode : 1);
}
