/**
 * `npm run keystore -- …`: stores the treasury's keys in a file that only a passphrase opens. No secret is an argument, and none is
 * printed.
 */
import { existsSync, readFileSync } from 'node:fs';
import { Argument, Command } from 'commander';
import type { ChainFamily } from '../domain/chains.ts';
import { allFamilies, readTreasuries } from '../src/chains/families.ts';
import {
  type KeystoreEntries,
  KeystoreError,
  keystoreNames,
  openKeystore,
  passphraseFrom,
  replaceSealed,
  sealKeystore,
} from '../src/environment/keystore.ts';
import { createReader, fileText } from '../src/environment/reader.ts';
import { print, printTable } from './print.ts';
import { addExamples, runProgram } from './program.ts';

interface Options {
  readonly passphraseFile?: string;
  readonly passphraseFd?: string;
}

const passphrase = ({ passphraseFile: file, passphraseFd: descriptor }: Options): string =>
  passphraseFrom(
    file === undefined && descriptor === undefined
      ? { file: process.env['KEYSTORE_PASSPHRASE_FILE'], descriptor: process.env['KEYSTORE_PASSPHRASE_FD'] }
      : { file, descriptor },
  );

const write = (path: string, entries: KeystoreEntries, phrase: string): void =>
  replaceSealed(path, sealKeystore(entries, phrase));

const opened = (path: string, phrase: string): KeystoreEntries => openKeystore(readFileSync(path, 'utf8'), phrase);

/** A stored key is not replaced without confirmation: its money would be lost. */
function put(path: string, name: string, options: Options & { readonly from?: string; readonly replace?: boolean }) {
  const value = fileText(options.from ?? '/dev/stdin').trim();
  if (value === '') throw new KeystoreError(`no ${name} was given: name its file by --from, or pipe it in`);
  const phrase = passphrase(options);
  const entries = existsSync(path) ? opened(path, phrase) : {};
  if (name in entries && entries[name] !== value && !options.replace)
    throw new KeystoreError(
      `${name} is in ${path} already, and is another one: --replace, if nothing needs it any more`,
    );
  write(path, { ...entries, [name]: value }, phrase);
  print(`${name} is in ${path}. Set KEYSTORE=${path}, and take ${name} out of where it was.`);
}

function list(path: string, options: Options): void {
  const entries = opened(path, passphrase(options));
  printTable(keystoreNames.map((name) => ({ name, held: name in entries ? 'yes' : 'no' })));
}

const keyOf: Readonly<Record<ChainFamily, (typeof keystoreNames)[number]>> = {
  evm: 'TREASURY_PRIVATE_KEY',
  solana: 'SOLANA_TREASURY_PRIVATE_KEY',
  stellar: 'STELLAR_TREASURY_SECRET',
};

/** Settings for instances without the keys: none of them can move money. */
function showPublic(path: string, options: Options): void {
  const problems: string[] = [];
  const entries = opened(path, passphrase(options));
  const held = allFamilies.map(({ name }) => name).filter((name) => keyOf[name] in entries);
  const { evm, solana, stellar } = readTreasuries(createReader(entries, problems), new Set(held), true);
  if (problems.length > 0) throw new KeystoreError(problems.join('; '));
  const lines = {
    TREASURY_ADDRESS: evm?.address,
    RELAY_ADDRESS: evm?.relay?.address,
    SOLANA_TREASURY_ADDRESS: solana?.address,
    SOLANA_RELAY_ADDRESS: solana?.relay?.address,
    SOLANA_REFERENCE_KEY: solana?.referenceKey && Buffer.from(solana.referenceKey).toString('hex'),
    STELLAR_TREASURY_ADDRESS: stellar?.address,
    STELLAR_RELAY_ADDRESS: stellar?.relay?.address,
    STELLAR_CHANNEL_ACCOUNTS: stellar?.channels.map(({ account }) => account).join(','),
  };
  for (const [name, value] of Object.entries(lines)) if (value) print(`${name}=${value}`);
}

function remove(path: string, name: string, options: Options): void {
  const phrase = passphrase(options);
  const { [name]: gone, ...others } = opened(path, phrase);
  if (gone === undefined) throw new KeystoreError(`${name} is not in ${path}: nothing was changed`);
  write(path, others, phrase);
  print(`${name} is out of ${path}.`);
}

function change(path: string, newFile: string, options: Options): void {
  const entries = opened(path, passphrase(options));
  write(path, entries, passphraseFrom({ file: newFile }));
  print(`${path} now opens only with the new passphrase. Copies of the file still open with the old one.`);
}

const program = new Command('npm run keystore --').description('Keeps the treasury’s keys in a sealed file.');
const nameArgument = () => new Argument('<name>', 'Variable that the key replaces').choices(keystoreNames);
const verb = (usage: string, description: string): Command =>
  program
    .command(usage)
    .description(description)
    .argument('<keystore>', 'Path of the keystore file')
    .option('--passphrase-file <path>', 'File whose first line is the passphrase; default: KEYSTORE_PASSPHRASE_FILE')
    .option('--passphrase-fd <number>', 'Open file descriptor with the passphrase; default: KEYSTORE_PASSPHRASE_FD');

verb('put', 'Add a key. Creates the file if it does not exist.')
  .addArgument(nameArgument())
  .option('--from <path>', 'File that contains the key; default: standard input')
  .option('--replace', 'Replace an existing key with this name')
  .action(put);
verb('list', 'List the names of the keys.').action(list);
verb('public', 'Print the public values that instances without keys need.').action(showPublic);
verb('remove', 'Remove a key.').addArgument(nameArgument()).action(remove);
verb('passphrase', 'Change the passphrase.')
  .argument('<new>', 'File whose first line is the new passphrase')
  .action(change);

addExamples(program, {
  put: 'keys.json TREASURY_PRIVATE_KEY --from key.txt --passphrase-file passphrase.txt',
  list: 'keys.json --passphrase-file passphrase.txt',
  public: 'keys.json --passphrase-file passphrase.txt',
  remove: 'keys.json SOLANA_DEPOSIT_SEED --passphrase-file passphrase.txt',
  passphrase: 'keys.json new.txt --passphrase-file passphrase.txt',
});

await runProgram(() => program.parseAsync());
