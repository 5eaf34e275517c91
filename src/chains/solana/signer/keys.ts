/** Ed25519 keys of Solana: made from 32 secret bytes, named by their public half in base58. */
import { createPrivateKey, createPublicKey, hkdfSync, type KeyObject, sign } from 'node:crypto';
import { base58 } from '@scure/base';
import { parseBase58 } from '../addresses.ts';
import { PublicKey } from '../web3.ts';

export interface SolanaKey {
  readonly address: string;
  /** 64 bytes; equal for equal messages (RFC 8032). */
  sign(message: Uint8Array): Uint8Array;
}

/** PKCS #8 prefix of the 32 secret bytes of an Ed25519 key (RFC 8410). */
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex');
const secret_bytes = 32;

/** @param secret 32 bytes */
export function solanaKey(secret: Uint8Array): SolanaKey {
  const key = createPrivateKey({ key: Buffer.concat([pkcs8, secret]), format: 'der', type: 'pkcs8' });
  return { address: addressOf(key), sign: (message) => sign(null, message, key) };
}

function addressOf(key: KeyObject): string {
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' });
  return new PublicKey(Buffer.from(x, 'base64url')).toBase58();
}

/**
 * A key in the export format of wallets: base58 of the secret half and the public half.
 * @returns undefined for any other text, and if the halves do not match
 */
export function parseSolanaKey(text: string): SolanaKey | undefined {
  const bytes = parseBase58(text, 2 * secret_bytes);
  if (!bytes) return undefined;
  const key = solanaKey(bytes.slice(0, secret_bytes));
  return key.address === base58.encode(bytes.slice(secret_bytes)) ? key : undefined;
}

/**
 * Key for unpredictable payout references: HKDF-SHA256 of the seed.
 * @param seed 64 hexadecimal digits
 */
export const referenceKey = (seed: string): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', Buffer.from(seed, 'hex'), '', 'payment-intents/solana-reference-2', secret_bytes));

/**
 * Key of the account that holds the message of a rebalance's burn: HKDF-SHA256 of the reference key. Every attempt of one rebalance has the
 * same key, and a burn creates the account, so at most one attempt can land. It owns no money.
 * @param secret the reference key
 * @param reference of the burn
 */
export function eventKey(secret: Uint8Array, reference: string): SolanaKey {
  const info = `payment-intents/solana-burn-1/${reference}`;
  return solanaKey(new Uint8Array(hkdfSync('sha256', secret, '', info, secret_bytes)));
}

/** Name of the derivation of deposit owners; a change of it is a new version beside this one. */
export const ownerScheme = 'solana-owner-1';

/**
 * Owner key of a payment's deposit: HKDF-SHA256 of the seed (RFC 5869). The event log stores the salt, so log and seed together recover
 * every key, and neither does alone.
 * @param seed 64 hexadecimal digits
 * @param salt 64 hexadecimal digits
 */
export function ownerKey(seed: string, salt: string): SolanaKey {
  const [secret, saltBytes] = [seed, salt].map((hex) => Buffer.from(hex, 'hex'));
  const info = `payment-intents/${ownerScheme}`;
  return solanaKey(new Uint8Array(hkdfSync('sha256', secret ?? '', saltBytes ?? '', info, secret_bytes)));
}
