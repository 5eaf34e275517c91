/** Reads single variables, collects their problems, and prints no value that may be secret. */

import { closeSync, openSync, readSync } from 'node:fs';
import { parseAmount } from '../../domain/money.ts';

// Secrets from files: `<NAME>_FILE` names one, as Docker, Kubernetes and systemd provide them.

export type Env = Readonly<Record<string, string | undefined>>;

const most_bytes = 64 * 1024;
/** Secret variables. URLs of nodes are secret too. */
export const secretNames: ReadonlySet<string> = new Set([
  ...['MASTER_KEY', 'MASTER_KEY_OLD', 'TREASURY_PRIVATE_KEY', 'STELLAR_TREASURY_SECRET', 'STELLAR_CHANNEL_SECRETS'],
  ...[
    'RELAY_PRIVATE_KEY',
    'STELLAR_RELAY_SECRET',
    'SOLANA_TREASURY_PRIVATE_KEY',
    'SOLANA_RELAY_PRIVATE_KEY',
    'SOLANA_DEPOSIT_SEED',
    'HEADS_KEY',
    'HEADS_KEY_OLD',
    'DATABASE_URL',
    'DATABASE_READ_URL',
    'ANALYST_PASSWORD',
    'EVENTSTORE_URL',
    'SMTP_URL',
  ],
  ...['DEPLOYER_PRIVATE_KEY', 'STELLAR_DEPLOYER_SECRET'],
]);

/** URLs of nodes often contain a provider's key. */
const isSecret = (name: string): boolean => secretNames.has(name) || /^RPC_URLS_\d+$/.test(name);

/** The variable's value, from its file if it is a secret with one. @param problems receives the problems, never a secret */
export function settingOf(env: Env, name: string, problems: string[]): string | undefined {
  const value = env[name]?.trim() || undefined;
  if (!isSecret(name)) return value;
  const file = env[`${name}_FILE`]?.trim() || undefined;
  if (file === undefined) return value;
  const problem = value === undefined ? undefined : `is set in addition to ${name}: set only one of them`;
  const { text = '', reason } = problem === undefined ? readFrom(file) : { reason: problem };
  if (reason === undefined) return text;
  const sentence = `${name}_FILE ${reason}`;
  if (!problems.includes(sentence)) problems.push(sentence);
  return undefined;
}

function readFrom(file: string): { readonly text?: string; readonly reason?: string } {
  try {
    const text = fileText(file).trim();
    return text === '' ? { reason: `names ${file}, which is empty` } : { text };
  } catch (error) {
    return { reason: `names ${file}, which ${whyUnread(error)}` };
  }
}

/** Returns why a secret's file was not read, in words that follow its name. */
export function whyUnread(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return error instanceof RangeError ? message : `cannot be read (${code ?? message})`;
}

/** The whole file as text. @throws RangeError if it is too large to be a secret */
export function fileText(file: string): string {
  const opened = openSync(file, 'r');
  try {
    const bytes = Buffer.alloc(most_bytes + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read)
      read = readSync(opened, bytes, length, bytes.length - length, null);
    if (length > most_bytes) throw new RangeError(`has over ${most_bytes} bytes`);
    return bytes.toString('utf8', 0, length);
  } finally {
    closeSync(opened);
  }
}

export type Reader = ReturnType<typeof createReader>;

/** @param problems receives a sentence about each unusable value; never a possible secret */
export function createReader(env: Env, problems: string[]) {
  const raw = (name: string): string | undefined => settingOf(env, name, problems);
  const check = (good: boolean, problem: string): boolean => {
    if (!good) problems.push(problem);
    return good;
  };
  const self = {
    check,
    missing(name: string, example: string): string {
      if (!raw(name)) problems.push(`${name} is required, for example ${example}`);
      return '';
    },
    given: (name: string): boolean => raw(name) !== undefined,
    text: (name: string, fallback: string): string => raw(name) ?? fallback,
    list: (name: string): readonly string[] =>
      (raw(name) ?? '')
        .split(',')
        .map((item) => item.trim())
        .filter(Boolean),
    oneOf<const T extends string>(name: string, values: readonly T[], fallback: T): T {
      const value = raw(name) ?? fallback;
      check((values as readonly string[]).includes(value), `${name}: ${value} is not one of ${values.join(', ')}`);
      return value as T;
    },
    /** Returns lower case for any input case. */
    hex: (name: string, pattern: RegExp, what: string): string | null =>
      self.matching(name, new RegExp(pattern, 'i'), what)?.toLowerCase() ?? null,
    matching: (name: string, pattern: RegExp, what: string): string | null =>
      self.accepted(name, (value) => pattern.test(value), what),
    accepted(name: string, isOne: (value: string) => boolean, what: string): string | null {
      const value = raw(name);
      if (value === undefined) return null;
      // The value may be a secret: it is never printed.
      return check(isOne(value), `${name} is not ${what}`) ? value : null;
    },
    url(name: string, protocol: RegExp): string | null {
      const value = raw(name);
      if (value === undefined) return null;
      const parsed = URL.canParse(value) ? new URL(value) : null;
      check(
        parsed !== null && protocol.test(parsed.protocol),
        `${name} is not a URL of the expected kind (${protocol.source})`,
      );
      return value;
    },
    /** @param parse throws a RangeError with the reason, which follows the variable's name and excludes the value */
    parsed<T>(name: string, parse: (value: string) => T): T | null {
      const value = raw(name);
      if (value === undefined) return null;
      try {
        return parse(value);
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        problems.push(`${name} ${error.message}`);
        return null;
      }
    },
    integer: (name: string, fallback: number, min: number, max: number): number =>
      self.optionalInteger(name, min, max) ?? fallback,
    optionalInteger(name: string, min: number, max: number): number | undefined {
      const value = raw(name);
      if (value === undefined) return undefined;
      const number = Number(value);
      check(
        Number.isInteger(number) && number >= min && number <= max,
        `${name}: ${value} is not a whole number from ${min} to ${max}`,
      );
      return number;
    },
    whole: (name: string, fallback: bigint): bigint => self.optionalWhole(name) ?? fallback,
    optionalWhole(name: string): bigint | undefined {
      const value = raw(name);
      if (value === undefined) return undefined;
      return check(/^\d{1,15}$/.test(value), `${name}: ${value} is not a whole number`) ? BigInt(value) : undefined;
    },
    microUsd(name: string, fallback: string): bigint {
      const amount = parseAmount(raw(name) ?? fallback, 6);
      check(typeof amount === 'bigint', `${name}: ${raw(name)} is not an amount like 0.01 with at most 6 decimals`);
      return typeof amount === 'bigint' ? amount : 0n;
    },
  };
  return self;
}

/**
 * URL of a store for logs and messages: without user and password, and without options, which may contain them. A password may contain `/`,
 * `?`, `#` and `@`: everything up to the last `@` is removed first.
 */
export const withoutSecrets = (url: string): string =>
  url.replace(/^([^:]*:\/\/)(.*@)?/s, '$1').replace(/[?#].*$/s, '');
