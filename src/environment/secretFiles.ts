/** Secrets that come from files: `<NAME>_FILE` names one, as Docker, Kubernetes and systemd hand them over. */
import { closeSync, openSync, readSync } from 'node:fs';

export type Env = Readonly<Record<string, string | undefined>>;

const most_bytes = 64 * 1024;
/** What must never be lost or shown, by its variable. URLs of nodes come beside them. */
export const secretNames: ReadonlySet<string> = new Set([
  ...['MASTER_KEY', 'MASTER_KEY_OLD', 'TREASURY_PRIVATE_KEY', 'STELLAR_TREASURY_SECRET', 'STELLAR_CHANNEL_SECRETS'],
  ...[
    'SOLANA_TREASURY_PRIVATE_KEY',
    'SOLANA_DEPOSIT_SEED',
    'HEADS_KEY',
    'HEADS_KEY_OLD',
    'DATABASE_URL',
    'ANALYST_PASSWORD',
    'EVENTSTORE_URL',
    'SMTP_URL',
  ],
  ...['DEPLOYER_PRIVATE_KEY', 'STELLAR_DEPLOYER_SECRET'],
]);

/** URLs of nodes often hold a provider's key. */
const isSecret = (name: string): boolean => secretNames.has(name) || /^RPC_URLS_\d+$/.test(name);

/** The variable's value, from its file if it is a secret that has one. @param problems receives what is wrong, never a secret */
export function settingOf(env: Env, name: string, problems: string[]): string | undefined {
  const value = env[name]?.trim() || undefined;
  if (!isSecret(name)) return value;
  const file = env[`${name}_FILE`]?.trim() || undefined;
  if (file === undefined) return value;
  const problem = value === undefined ? undefined : `is set beside ${name}: set one of them`;
  const { text = '', reason } = problem === undefined ? readFrom(file) : { reason: problem };
  if (reason === undefined) return text;
  const sentence = `${name}_FILE ${reason}`;
  if (!problems.includes(sentence)) problems.push(sentence);
  return undefined;
}

function readFrom(file: string): { readonly text?: string; readonly reason?: string } {
  try {
    const text = textOf(file).trim();
    return text === '' ? { reason: `names ${file}, which is empty` } : { text };
  } catch (error) {
    return { reason: `names ${file}, which ${whyUnread(error)}` };
  }
}

/** Why a file of a secret was not read, in words that follow its name. */
export function whyUnread(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return error instanceof RangeError ? message : `cannot be read (${code ?? message})`;
}

/** All of a file, as text. @throws RangeError when it is too large to be a secret */
export function textOf(file: string): string {
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
