/** The sandbox's own secrets: made once for a data directory, readable by its owner only. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Hex } from 'viem';
import { generatePrivateKey } from 'viem/accounts';
import { writeWhole } from './writeWhole.ts';

export interface SandboxKeys {
  readonly masterKey: string;
  readonly treasury: Hex;
  readonly customer: Hex;
  /** Only its address matters: what the demo merchant is paid out to. */
  readonly merchantWallet: Hex;
}

export function keepKeys(dataDir: string): SandboxKeys {
  const file = join(dataDir, 'sandbox-keys.json');
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as SandboxKeys;
  const keys: SandboxKeys = {
    masterKey: randomBytes(32).toString('hex'),
    treasury: generatePrivateKey(),
    customer: generatePrivateKey(),
    merchantWallet: generatePrivateKey(),
  };
  writeWhole(file, JSON.stringify(keys, null, 2));
  return keys;
}
