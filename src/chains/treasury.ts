/** The account that pays out on the chains of a family: with its key, or its address alone. */
import type { Reader } from '../environment/reader.ts';

export interface Treasury {
  /** In the chains' spelling. */
  readonly address: string;
  /** Null on an instance that does not sign. */
  readonly key: string | null;
}

export interface StatedAccount {
  readonly stated: string | null;
  readonly key: string | null;
  /** Undefined if the key is outside the curve's range. */
  readonly accountOf: (key: string) => string | undefined;
}

/** If both are set, the key decides, and the address must be its account's. @param names of the variables */
export function readTreasuryAccount(
  read: Reader,
  names: { readonly address: string; readonly key: string },
  { stated, key, accountOf }: StatedAccount,
): Treasury | null {
  if (key === null) {
    const given = read.given(names.address) || read.given(names.key);
    read.check(stated !== null || given, `${names.address} or ${names.key} is required`);
    return { address: stated ?? '', key: null };
  }
  const address = accountOf(key);
  if (!read.check(address !== undefined, `${names.key} is not a valid key`)) return null;
  read.check(
    stated === null || stated === address,
    `${names.address} is not the account of ${names.key}: set the address of the key, or unset one of the two`,
  );
  return { address: address ?? '', key };
}
