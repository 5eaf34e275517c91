/** The sandbox's own secrets: made once for a data directory, readable by its owner only. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Keypair } from '@stellar/stellar-sdk';
import type { Hex } from 'viem';
import { generatePrivateKey } from 'viem/accounts';
import { writeWhole } from '../src/lib/writeWhole.ts';
import { newSecretKey } from './solana/secretKey.ts';

export interface SandboxKeys {
  readonly masterKey: string;
  readonly treasury: Hex;
  readonly customer: Hex;
  /** Key of the account that sends payers' authorizations. */
  readonly relay: Hex;
  /** Settlement wallet of the demo merchant. Only its address is used. */
  readonly merchantWallet: Hex;
  /** Secrets of the same on Stellar: S…. */
  readonly stellar: {
    readonly treasury: string;
    readonly customer: string;
    readonly merchantWallet: string;
    /** Account that sends payers' authorization entries. */
    readonly relay: string;
  };
  readonly solana: {
    /** Secret keys, as wallets export them. */
    readonly treasury: string;
    readonly customer: string;
    readonly merchantWallet: string;
    /** Account that pays the fees of payers' transactions. */
    readonly relay: string;
    /** The keys of deposits derive from it: 64 hex digits. */
    readonly depositSeed: string;
  };
}

/** Reads the keys. Keys that an older version did not have are added; existing ones remain. */
export function keepKeys(dataDir: string): SandboxKeys {
  const file = join(dataDir, 'sandbox-keys.json');
  const kept = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Partial<SandboxKeys>) : {};
  if (kept.stellar?.relay && kept.solana?.relay && kept.relay) return kept as SandboxKeys;
  const fresh = newKeys();
  const [stellar, solana] = [
    { ...fresh.stellar, ...kept.stellar },
    { ...fresh.solana, ...kept.solana },
  ];
  const keys = { ...fresh, ...kept, stellar, solana };
  writeWhole(file, JSON.stringify(keys, null, 2));
  return keys;
}

const stellarSecret = (): string => Keypair.random().secret();

const newKeys = (): SandboxKeys => ({
  masterKey: randomBytes(32).toString('hex'),
  treasury: generatePrivateKey(),
  customer: generatePrivateKey(),
  relay: generatePrivateKey(),
  merchantWallet: generatePrivateKey(),
  stellar: {
    treasury: stellarSecret(),
    customer: stellarSecret(),
    merchantWallet: stellarSecret(),
    relay: stellarSecret(),
  },
  solana: {
    treasury: newSecretKey(),
    customer: newSecretKey(),
    merchantWallet: newSecretKey(),
    relay: newSecretKey(),
    depositSeed: randomBytes(32).toString('hex'),
  },
});
