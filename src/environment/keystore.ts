/** The treasury's keys out of a sealed file: `KEYSTORE` names it, and its passphrase comes from a file or from a descriptor that the parent opened. */

import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto';
import { closeSync, existsSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import Type, { type Static } from 'typebox';
import Value from 'typebox/value';
import { type Env, textOf, whyUnread } from './reader.ts';

// A file of keys, sealed by a passphrase: scrypt makes a key of it, AES-256-GCM seals the entries. Nothing of the file can be changed, its
// parameters neither, without it refusing to open.

/** Keys by the names of the variables that they stand for. */
export type Entries = Readonly<Record<string, string>>;

/** A keystore that cannot be used. The message says why, and nothing of what is in it. */
export class KeystoreError extends Error {
  override readonly name = 'KeystoreError';
}

const format = 'payment-intents keystore 1';
const cipherName = 'aes-256-gcm';
const key_bytes = 32;
const salt_bytes = 32;
const iv_bytes = 12;
const tag_bytes = 16;
/** 128 MiB and some tenths of a second for each guess; the least that OWASP's password storage cheat sheet takes for scrypt. */
const cost = { N: 2 ** 17, r: 8, p: 1 } as const;
/** A file that asks for less is too weak, for more it would take the memory of whoever opens it. */
const leastN = cost.N;
const mostN = 2 ** 20;

export const passphraseLeast = 12;
export const keystoreMax_bytes = 64 * 1024;

const Base64 = Type.String({ pattern: '^[A-Za-z0-9_-]*$', maxLength: keystoreMax_bytes });
const Sealed = Type.Object(
  {
    format: Type.Literal(format),
    scrypt: Type.Object(
      {
        N: Type.Integer({ minimum: leastN, maximum: mostN }),
        r: Type.Literal(cost.r),
        p: Type.Literal(cost.p),
        salt: Base64,
      },
      { additionalProperties: false },
    ),
    iv: Base64,
    sealed: Base64,
  },
  { additionalProperties: false },
);
type Sealed = Static<typeof Sealed>;

/**
 * @param random so many bytes that nobody can guess; its own for every sealing
 * @returns the file's text
 * @throws KeystoreError for a passphrase that is too short
 */
export function sealKeystore(entries: Entries, passphrase: string, random = randomBytes): string {
  if (passphrase.length < passphraseLeast)
    throw new KeystoreError(`the passphrase has under ${passphraseLeast} characters: take a longer one`);
  const scrypt = { ...cost, salt: random(salt_bytes).toString('base64url') };
  const iv = random(iv_bytes);
  const cipher = createCipheriv(cipherName, keyOf(passphrase, scrypt), iv).setAAD(associated(scrypt));
  const sealed = Buffer.concat([cipher.update(JSON.stringify(entries), 'utf8'), cipher.final(), cipher.getAuthTag()]);
  const file: Sealed = { format, scrypt, iv: iv.toString('base64url'), sealed: sealed.toString('base64url') };
  return `${JSON.stringify(file, null, 2)}\n`;
}

/** @throws KeystoreError when it is no keystore, was changed, or the passphrase is another one */
export function openKeystore(text: string, passphrase: string): Entries {
  const { scrypt, iv, sealed } = parsed(text);
  const bytes = Buffer.from(sealed, 'base64url');
  const nonce = Buffer.from(iv, 'base64url');
  if (bytes.length < tag_bytes || nonce.length !== iv_bytes) throw noKeystore();
  const end = bytes.length - tag_bytes;
  const decipher = createDecipheriv(cipherName, keyOf(passphrase, scrypt), nonce, { authTagLength: tag_bytes })
    .setAAD(associated(scrypt))
    .setAuthTag(bytes.subarray(end));
  try {
    const opened = Buffer.concat([decipher.update(bytes.subarray(0, end)), decipher.final()]);
    return JSON.parse(opened.toString('utf8'));
  } catch (error) {
    throw new KeystoreError('it does not open: the passphrase is another one, or the file was changed', {
      cause: error,
    });
  }
}

function parsed(text: string): Sealed {
  try {
    const file: unknown = JSON.parse(text);
    if (Value.Check(Sealed, file)) return file;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw noKeystore();
}

const noKeystore = (): KeystoreError =>
  new KeystoreError(
    'it is no keystore of this program, or one that is weaker than it makes: npm run keystore -- create',
  );

const keyOf = (passphrase: string, { N, r, p, salt }: Sealed['scrypt']): Buffer =>
  scryptSync(passphrase.normalize('NFKC'), Buffer.from(salt, 'base64url'), key_bytes, { N, r, p, maxmem: 256 * N * r });

const associated = ({ N, r, p, salt }: Sealed['scrypt']): Buffer =>
  Buffer.from(`${format} ${N} ${r} ${p} ${salt}`, 'utf8');

/** Each treasury key may be in it, under its variable's name, and nothing else. */
export const keystoreNames = [
  'TREASURY_PRIVATE_KEY',
  'RELAY_PRIVATE_KEY',
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

// A sealed file takes the place of the one before.

/**
 * Written beside it first: a stop half-way leaves the old one whole. Where the path is a link, the file that it leads to is replaced: else the
 * old keys would stay behind it. What lies where it is written beside is taken away, never written through.
 */
export function replaceSealed(path: string, text: string): void {
  const file = existsSync(path) ? realpathSync(path) : path;
  const beside = `${file}.new`;
  rmSync(beside, { force: true });
  writeFileSync(beside, text, { mode: 0o600, flush: true, flag: 'wx' });
  renameSync(beside, file);
}
