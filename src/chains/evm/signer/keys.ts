import type { Hex } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';

/** The account of a private key; undefined when the curve has no such key. @param privateKey 0x and 64 hexadecimal digits */
export function accountOf(privateKey: string): string | undefined {
  try {
    return privateKeyToAddress(privateKey as Hex);
  } catch {
    return undefined;
  }
}
