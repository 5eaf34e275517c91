/** Signs texts as the wallets of each chain family do. */
import { createHash, createPrivateKey, sign } from 'node:crypto';
import { base58 } from '@scure/base';
import { Keypair } from '@stellar/stellar-sdk';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { keypairOf } from './solana/wallet.ts';

export interface MessageSigner {
  readonly address: string;
  sign(text: string): Promise<string>;
}

/** @param key 0x and 64 hex digits, a Stellar secret S…, or a Solana wallet's 64 bytes in base58. @throws Error for anything else */
export function messageSigner(key: string): MessageSigner {
  if (/^0x[0-9a-fA-F]{64}$/.test(key)) return onEvm(key as Hex);
  if (/^S[A-Z2-7]{55}$/.test(key)) return onStellar(key);
  if (/^[1-9A-HJ-NP-Za-km-z]{80,90}$/.test(key)) return onSolana(key);
  throw new Error('the key is neither 0x and 64 hex digits, nor a Stellar secret S…, nor a Solana wallet in base58');
}

function onEvm(key: Hex): MessageSigner {
  const account = privateKeyToAccount(key);
  return { address: account.address, sign: (message) => account.signMessage({ message }) };
}

/** SEP-53. */
function onStellar(secret: string): MessageSigner {
  const keys = Keypair.fromSecret(secret);
  const digestOf = (text: string) => createHash('sha256').update('Stellar Signed Message:\n').update(text).digest();
  return { address: keys.publicKey(), sign: async (text) => keys.sign(digestOf(text)).toString('base64') };
}

function onSolana(secretKey: string): MessageSigner {
  const bytes = keypairOf(secretKey).secretKey;
  const [d, x] = [bytes.subarray(0, 32), bytes.subarray(32)].map((part) => Buffer.from(part).toString('base64url'));
  const key = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', d: d ?? '', x: x ?? '' }, format: 'jwk' });
  return {
    address: base58.encode(bytes.subarray(32)),
    sign: async (text) => base58.encode(sign(null, Buffer.from(text), key)),
  };
}
