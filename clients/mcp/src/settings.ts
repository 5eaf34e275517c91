/** Settings of the server, from its environment. */
import type { Hex } from 'viem';

export interface Settings {
  /** Address of the service, without a path. Bills of other services are never paid. */
  readonly serviceUrl: string;
  /** A key of an app. Lists of payments need an admin key; the other tools work without one. */
  readonly apiKey?: string;
  /** Key of the agent's account. Without it, the server has no tool that pays. */
  readonly privateKey?: Hex;
  /** Millionths of a dollar. */
  readonly limits: SpendingLimits;
}

/** Maximum sums in millionths of a dollar. */
export interface SpendingLimits {
  readonly perPayment: bigint;
  /** Sum of all payments until the server ends. */
  readonly total: bigint;
}

export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

const dollar = 1_000_000n;

/**
 * Reads the environment.
 * @throws SettingsError that names the variable and what it needs
 */
export function readSettings(env: Readonly<Record<string, string | undefined>>): Settings {
  const apiKey = env['PAYMENT_INTENTS_API_KEY'];
  const privateKey = env['AGENT_PRIVATE_KEY'];
  if (privateKey !== undefined && !/^0x[0-9a-fA-F]{64}$/.test(privateKey))
    throw new SettingsError('AGENT_PRIVATE_KEY must be 0x and 64 hex digits');
  return {
    serviceUrl: serviceUrl(env['PAYMENT_INTENTS_URL']),
    ...(apiKey !== undefined && { apiKey }),
    ...(privateKey !== undefined && { privateKey: privateKey as Hex }),
    limits: {
      perPayment: dollars(env, 'SPEND_LIMIT', dollar),
      total: dollars(env, 'SPEND_LIMIT_TOTAL', 10n * dollar),
    },
  };
}

function serviceUrl(text: string | undefined): string {
  if (text === undefined)
    throw new SettingsError('PAYMENT_INTENTS_URL is missing: set it to the address of the service');
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isLocal = url?.hostname === 'localhost' || url?.hostname === '127.0.0.1';
  if (!url || (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLocal)))
    throw new SettingsError(`PAYMENT_INTENTS_URL must begin with https:// (http:// only for this machine): ${text}`);
  return url.origin;
}

function dollars(env: Readonly<Record<string, string | undefined>>, name: string, byDefault: bigint): bigint {
  const text = env[name];
  if (text === undefined) return byDefault;
  const [, whole, cents = ''] = /^\$?(\d{1,9})(?:\.(\d{1,6}))?$/.exec(text) ?? [];
  if (whole === undefined) throw new SettingsError(`${name} must be a sum of dollars such as 2.50: ${text}`);
  return BigInt(whole) * dollar + BigInt(cents.padEnd(6, '0'));
}
