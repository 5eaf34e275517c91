/** `npm run restore -- <directory>`: writes a backup of the event log into an empty event store, and the secrets into a file. */
import { resolve } from 'node:path';
import { SingleBar } from 'cli-progress';
import { Command, Option } from 'commander';
import { passphraseFrom } from '../src/environment/keystore.ts';
import { openEventStore, patientLimits } from '../src/store/client.ts';
import { hasSecrets, restore, restoreSecrets } from './backup/archive.ts';
import { eventStoreOf, type StoreLocation } from './connections.ts';
import { print } from './print.ts';
import { runProgram, untilInterrupted } from './program.ts';

interface Options extends Omit<StoreLocation, 'database'> {
  readonly passphraseFile?: string;
  readonly secretsTo?: string;
}

const program = new Command()
  .name('npm run restore --')
  .description('Writes a backup into an empty event store. Stop the service first.')
  .argument('<directory>', 'Directory that `npm run backup` wrote')
  .option('--secrets-to <path>', 'New file to write the secrets to')
  .option('--passphrase-file <path>', 'File whose first line is the passphrase of the secrets')
  .addOption(new Option('--eventstore <url>', 'Default: the embedded event store').env('EVENTSTORE_URL'))
  .addOption(new Option('--data <directory>', 'Data directory of the service').env('DATA_DIR').default('./data'))
  .addHelpText(
    'after',
    '\nExample: npm run restore -- /mnt/backup --secrets-to secrets.json --passphrase-file /run/secrets/backup',
  )
  .parse();

await runProgram(() => main(resolve(program.args[0] ?? ''), program.opts<Options>()));

async function main(directory: string, { passphraseFile, secretsTo, ...where }: Options): Promise<void> {
  const signal = untilInterrupted('Interrupted: run it again, it goes on where it stopped.');
  if (secretsTo !== undefined) putSecrets(directory, secretsTo, passphraseFile);
  const { eventStoreUrl, close } = await eventStoreOf(where, 'refuse');
  const store = openEventStore({ url: eventStoreUrl, ...patientLimits });
  const bar = new SingleBar({ format: 'log [{bar}] {percentage}% | {events} events', noTTYOutput: true });
  try {
    bar.start(1, 0, { events: '0' });
    const events = await restore({
      ...{ store, directory, signal },
      onProgress: (done) => {
        bar.setTotal(done.of);
        bar.update(done.events, { events: String(done.events) });
      },
    });
    bar.stop();
    print(`${events} events are in the log.`);
    print('Before the service starts: npm run rebuild -- --log-restored (where Postgres knows more than the log).');
    print('What the log does not know of, each chain’s account shows: npm run treasury -- adopt <chain>.');
  } finally {
    bar.stop();
    await store.close();
    await close();
  }
}

function putSecrets(directory: string, to: string, passphraseFile: string | undefined): void {
  if (!hasSecrets(directory)) throw new Error(`${directory} has no secrets: use the backup that contains them`);
  const names = restoreSecrets(directory, passphraseFrom({ file: passphraseFile }), to);
  print(`${to} contains ${names.join(', ')}. Only you can read it.`);
}
