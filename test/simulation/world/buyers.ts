/** Buyers with accounts of their own: they pay orders from them, and sign messages that spend their credit. */
import { createHash } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519';
import { base58 } from '@scure/base';
import { Keypair } from '@stellar/stellar-sdk';
import { privateKeyToAccount } from 'viem/accounts';
import type { ChainFamily } from '../../../domain/chains.ts';
import { solanaKey } from '../../../src/chains/solana/signer/keys.ts';
import type { Random } from '../kernel/ports.ts';

export interface Buyer {
  readonly address: string;
  /** Signs as a wallet of the family does. */
  sign(text: string): Promise<string>;
}

const makers: Readonly<Record<ChainFamily, (secret: Uint8Array) => Buyer>> = {
  evm(secret) {
    const { address, signMessage } = privateKeyToAccount(`0x${Buffer.from(secret).toString('hex')}`);
    return { address, sign: (text) => signMessage({ message: text }) };
  },
  solana: (secret) => ({
    address: solanaKey(secret).address,
    sign: async (text) => base58.encode(ed25519.sign(Buffer.from(text), secret)),
  }),
  stellar(secret) {
    const key = Keypair.fromRawEd25519Seed(Buffer.from(secret));
    const digest = (text: string) => createHash('sha256').update('Stellar Signed Message:\n').update(text).digest();
    return { address: key.publicKey(), sign: async (text) => key.sign(digest(text)).toString('base64') };
  },
};

export const buyerOf = (family: ChainFamily, random: Random): Buyer => makers[family](random.bytes(32));
