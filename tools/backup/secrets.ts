/**
 * The installation's secrets beside a backup of its log, sealed with a passphrase: without them the log is unreadable and its money is
 * lost.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type KeystoreEntries,
  openKeystore,
  replaceSealed,
  sealKeystore,
  withKeystore,
} from '../../src/environment/keystore.ts';
import { type Env, secretNames, settingOf } from '../../src/environment/reader.ts';
import { BackupError } from './archive.ts';

const pathOf = (directory: string): string => join(directory, 'secrets.sealed');

/** Secrets that are set, from any source. @throws BackupError that names unreadable ones */
export function secretsOf(env: Env): KeystoreEntries {
  const problems: string[] = [];
  const all = withKeystore(env, problems);
  const found = [...secretNames].flatMap((name) => {
    const value = settingOf(all, name, problems);
    return value === undefined ? [] : [[name, value] as const];
  });
  if (problems.length > 0) throw new BackupError(problems.join('; '));
  return Object.fromEntries(found);
}

export const writeSecrets = (directory: string, secrets: KeystoreEntries, passphrase: string): void =>
  replaceSealed(pathOf(directory), sealKeystore(secrets, passphrase));

export const hasSecrets = (directory: string): boolean => existsSync(pathOf(directory));

/**
 * Writes a new file of variables that only its owner can read.
 * @throws KeystoreError for a wrong passphrase
 * @returns their names
 */
export function restoreSecrets(directory: string, passphrase: string, to: string): readonly string[] {
  const secrets = openKeystore(readFileSync(pathOf(directory), 'utf8'), passphrase);
  const lines = Object.entries(secrets).map(([name, value]) => `${name}=${quoted(value)}`);
  writeFileSync(to, `${lines.join('\n')}\n`, { mode: 0o600, flag: 'wx' });
  return Object.keys(secrets);
}

/** Quotes for a file of variables: with a quote that is not in the value. Within double quotes a backslash and an n would be a new line. */
function quoted(value: string): string {
  const quote = ["'", '`', '"'].find((each) => !value.includes(each) && !(each === '"' && value.includes('\\n')));
  if (quote === undefined) throw new BackupError('a secret holds every kind of quote: set it by hand');
  return `${quote}${value}${quote}`;
}
