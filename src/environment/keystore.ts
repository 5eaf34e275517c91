/** The treasury's keys out of a sealed file: `KEYSTORE` names it, and its passphrase comes from a file or from a descriptor that the parent opened. */
import { closeSync, readFileSync } from 'node:fs';
import { KeystoreError, keystoreMax_bytes, openKeystore } from './sealed.ts';
import { type Env, textOf, whyUnread } from './secretFiles.ts';

/** Each treasury key may be in it, under its variable's name, and nothing else. */
export const keystoreNames = [
  'TREASURY_PRIVATE_KEY',
  'STELLAR_TREASURY_SECRET',
  'STELLAR_CHANNEL_SECRETS',
  'SOLANA_TREASURY_PRIVATE_KEY',
  'SOLANA_DEPOSIT_SEED',
] as const;

const isKeystoreName = (name: string): boolean => keystoreNames.some((each) => each === name);

/**
 * The variables, with those that are in the keystore. Nothing is written to the process's own environment.
 * @param problems receives what is wrong, never a secret
 */
export function withKeystore(env: Env, problems: string[]): Env {
  const setting = (name: string): string | undefined => env[name]?.trim() || undefined;
  const path = setting('KEYSTORE');
  const from = { file: setting('KEYSTORE_PASSPHRASE_FILE'), descriptor: setting('KEYSTORE_PASSPHRASE_FD') };
  if (path === undefined) return env;
  try {
    const entries = openKeystore(textOf(path), passphraseFrom(from));
    const foreign = Object.keys(entries).filter((name) => !isKeystoreName(name));
    if (foreign.length > 0)
      throw new KeystoreError(
        `it holds ${foreign.join(', ')}, which is no key of the treasury: nothing of it is taken`,
      );
    const twice = keystoreNames.filter((name) => name in entries && (setting(name) ?? setting(`${name}_FILE`)));
    for (const name of twice) problems.push(`${name} is in the KEYSTORE and set beside it: leave one of them`);
    return { ...env, ...entries };
  } catch (error) {
    const reason = error instanceof KeystoreError ? error.message : whyUnread(error);
    problems.push(`KEYSTORE ${path}: ${reason}`);
    return env;
  }
}

export interface PassphraseFrom {
  readonly file?: string | undefined;
  /** Open for reading, as with `3< passphrase`; closed once it is read. */
  readonly descriptor?: string | undefined;
}

/** The first line. @throws KeystoreError when there is none, or two places name one */
export function passphraseFrom({ file, descriptor }: PassphraseFrom): string {
  if ((file === undefined) === (descriptor === undefined))
    throw new KeystoreError('set one of KEYSTORE_PASSPHRASE_FILE and KEYSTORE_PASSPHRASE_FD');
  const text = file === undefined ? fromDescriptor(descriptor ?? '') : textOf(file);
  const [line = ''] = text.split(/\r?\n/);
  if (line === '') throw new KeystoreError('its passphrase is empty');
  return line;
}

function fromDescriptor(stated: string): string {
  if (!/^\d{1,4}$/.test(stated) || stated === '1' || stated === '2')
    throw new KeystoreError('KEYSTORE_PASSPHRASE_FD is the number of a descriptor that is open for reading, like 3');
  const descriptor = Number(stated);
  const text = readFileSync(descriptor, 'utf8').slice(0, keystoreMax_bytes);
  closeSync(descriptor);
  return text;
}
