/** An account of the chain, and its form in files. */
import { type Address, address } from '@solana/kit';

export interface Account {
  readonly lamports: bigint;
  readonly owner: Address;
  readonly executable: boolean;
  readonly data: Uint8Array;
}

/** Owner, lamports, data (base64), executable. Null: no account. */
export type SavedAccount = readonly [string, string, string, boolean] | null;

export const systemProgram = address('11111111111111111111111111111111');

export const wallet = (lamports: bigint): Account => ({
  lamports,
  owner: systemProgram,
  executable: false,
  data: new Uint8Array(),
});

export const saveAccount = (account: Account | undefined): SavedAccount =>
  account
    ? [account.owner, String(account.lamports), Buffer.from(account.data).toString('base64'), account.executable]
    : null;

export function loadAccount(saved: SavedAccount): Account | undefined {
  if (!saved) return undefined;
  const [owner, lamports, data, executable] = saved;
  return { owner: address(owner), lamports: BigInt(lamports), data: Buffer.from(data, 'base64'), executable };
}

export const sameAccount = (one: Account | undefined, other: Account | undefined): boolean =>
  one === other ||
  (one !== undefined &&
    other !== undefined &&
    one.lamports === other.lamports &&
    one.owner === other.owner &&
    one.executable === other.executable &&
    Buffer.compare(one.data, other.data) === 0);
