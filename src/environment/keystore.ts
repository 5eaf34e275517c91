/**
 * The treasury's keys from a sealed file: `KEYSTORE` names it, and its passphrase comes from a file or from a descriptor that the parent
 * opened.
 */

import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto';
import { closeSync, existsSync, readFileSync, realpathSync } from 'node:fs';
import Type, { type Static } from 'typebox';
import Value from 'typebox/value';
import { writeWhole } from '../lib/writeWhole.ts';
import { type Env, fileText, whyUnread } from './reader.ts';

// A file of keys, sealed with a passphrase: scrypt derives a key, AES-256-GCM seals the entries. After any change of the file or its
// parameters it does not open.

/** Keys by the names of their variables. */
export type KeystoreEntries = Readonly<Record<string, string>>;

/** An unusable keystore. The message states the reason, and nothing of the content. */
export class KeystoreError extends Error {
  override readonly name = 'KeystoreError';
}

const format = 'payment-intents keystore 1';
const cipherName = 'aes-256-gcm';
const key_bytes = 32;
const salt_bytes = 32;
const iv_bytes = 12;
const tag_bytes = 16;
/** 128 MiB and some tenths of a second per guess; the minimum of OWASP's password storage cheat sheet for scrypt. */
const cost = { N: 2 ** 17, r: 8, p: 1 } as const;
/** Minimum and maximum accepted: a smaller N is too weak, a larger one would exhaust memory. */
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
 * @param random unpredictable bytes, new for every sealing
 * @returns the file's text
 * @throws KeystoreError for a passphrase that is too short
 */
export function sealKeystore(entries: KeystoreEntries, passphrase: string, random = randomBytes): string {
  if (passphrase.length < passphraseLeast)
    throw new KeystoreError(`the passphrase has under ${passphraseLeast} characters: take a longer one`);
  const scrypt = { ...cost, salt: random(salt_bytes).toString('base64url') };
  const iv = random(iv_bytes);
  const cipher = createCipheriv(cipherName, keyOf(passphrase, scrypt), iv).setAAD(associated(scrypt));
  const sealed = Buffer.concat([cipher.update(JSON.stringify(entries), 'utf8'), cipher.final(), cipher.getAuthTag()]);
  const file: Sealed = { format, scrypt, iv: iv.toString('base64url'), sealed: sealed.toString('base64url') };
  return `${JSON.stringify(file, null, 2)}\n`;
}

/** @throws KeystoreError if it is no keystore, was changed, or the passphrase is wrong */
export function openKeystore(text: string, passphrase: string): KeystoreEntries {
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

/** Names of the treasury keys that it may contain. */
export const keystoreNames = [
  'TREASURY_PRIVATE_KEY',
  'RELAY_PRIVATE_KEY',
  'STELLAR_TREASURY_SECRET',
  'STELLAR_CHANNEL_SECRETS',
  'STELLAR_RELAY_SECRET',
  'SOLANA_TREASURY_PRIVATE_KEY',
  'SOLANA_RELAY_PRIVATE_KEY',
  'SOLANA_DEPOSIT_SEED',
] as const;

const isKeystoreName = (name: string): boolean => keystoreNames.some((each) => each === name);

/**
 * The variables, including those of the keystore. Does not change the process's own environment.
 * @param problems receives the problems, never a secret
 */
export function withKeystore(env: Env, problems: string[]): Env {
  const setting = (name: string): string | undefined => env[name]?.trim() || undefined;
  const path = setting('KEYSTORE');
  const from = { file: setting('KEYSTORE_PASSPHRASE_FILE'), descriptor: setting('KEYSTORE_PASSPHRASE_FD') };
  if (path === undefined) return env;
  try {
    const entries = openKeystore(fileText(path), passphraseFrom(from));
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
  /** Open for reading, as with `3< passphrase`; closed after reading. */
  readonly descriptor?: string | undefined;
}

/** The first line. @throws KeystoreError if there is none, or two sources are set */
export function passphraseFrom({ file, descriptor }: PassphraseFrom): string {
  if ((file === undefined) === (descriptor === undefined))
    throw new KeystoreError('set one of KEYSTORE_PASSPHRASE_FILE and KEYSTORE_PASSPHRASE_FD');
  const text = file === undefined ? fromDescriptor(descriptor ?? '') : fileText(file);
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

// Replaces a sealed file.

/**
 * Writes a temporary file first, so an interruption leaves the old one whole. Replaces a symbolic link's target: otherwise the old keys
 * would remain there.
 */
export function replaceSealed(path: string, text: string): void {
  const file = existsSync(path) ? realpathSync(path) : path;
  writeWhole(file, text, 0o600, true);
}
