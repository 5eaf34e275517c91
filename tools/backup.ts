/** `npm run backup -- <directory>`: the event log and the installation's secrets, while the service runs. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { loadEnvFile } from 'node:process';
import { SingleBar } from 'cli-progress';
import { Command, Option } from 'commander';
import { passphraseFrom } from '../src/environment/keystore.ts';
import { systemClock } from '../src/process/system.ts';
import { openEventStore } from '../src/store/client.ts';
import { backUp, secretsOf, writeSecrets } from './backup/archive.ts';
import { eventStoreOf, type StoreLocation } from './connections.ts';
import { print } from './print.ts';
import { runProgram, untilInterrupted } from './program.ts';

interface Options extends Omit<StoreLocation, 'database'> {
  readonly passphraseFile?: string;
}

const program = new Command()
  .name('npm run backup --')
  .description('Copies the event log and the secrets into a directory. Run again, adds the new events.')
  .argument('<directory>', 'Directory on another disk')
  .option(
    '--passphrase-file <path>',
    'File whose first line is the passphrase of the secrets; default: no secrets in the backup',
  )
  .addOption(new Option('--eventstore <url>', 'Default: the URL of the running service').env('EVENTSTORE_URL'))
  .addOption(new Option('--data <directory>', 'Data directory of the service').env('DATA_DIR').default('./data'))
  .addHelpText('after', '\nExample: npm run backup -- /mnt/backup --passphrase-file /run/secrets/backup')
  .parse();

await runProgram(() => main(resolve(program.args[0] ?? ''), program.opts<Options>()));

async function main(directory: string, { passphraseFile, ...where }: Options): Promise<void> {
  const signal = untilInterrupted('Interrupted: run it again, it goes on where it stopped.');
  for (const file of ['.env', join(where.data, 'service.env')]) if (existsSync(file)) loadEnvFile(file);
  const { eventStoreUrl, close } = await eventStoreOf(where, 'join');
  const store = openEventStore({ url: eventStoreUrl });
  const bar = new SingleBar({ format: 'log [{bar}] {percentage}% | {events} events', noTTYOutput: true });
  bar.start(1_000, 0, { events: '0' });
  try {
    const { events, added } = await backUp({
      ...{ store, clock: systemClock, directory, signal },
      onProgress: (done) => {
        const share = done.end === 0n ? 1_000n : (done.position * 1_000n) / done.end;
        bar.update(Number(share > 1_000n ? 1_000n : share), { events: String(done.events) });
      },
    });
    bar.update(1_000);
    bar.stop();
    print(`${directory} holds ${events} events, ${added} of them new.`);
  } finally {
    bar.stop();
    await store.close();
    await close();
  }
  if (passphraseFile === undefined)
    return print('The secrets are not in it: --passphrase-file seals them, or keep them elsewhere.');
  const secrets = secretsOf(process.env);
  writeSecrets(directory, secrets, passphraseFrom({ file: passphraseFile }));
  print(`Sealed beside it: ${Object.keys(secrets).join(', ')}.`);
}
