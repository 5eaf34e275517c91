/** Token accounts and mints in accounts' data, of both token programs. */
import { type Address, address } from '@solana/kit';
import { AccountState, getMintDecoder, getMintSize, getTokenDecoder, getTokenSize } from '@solana-program/token';
import type { Account } from './account.ts';

export const tokenProgram = address('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
export const token2022Program = address('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb');

/** Names of the programs in JSON-RPC. */
export const tokenPrograms: ReadonlyMap<Address, string> = new Map<Address, string>([
  [tokenProgram, 'spl-token'],
  [token2022Program, 'spl-token-2022'],
]);

export type TokenAccount = ReturnType<typeof tokenAccountOf> & {};
export type MintAccount = ReturnType<typeof mintOf> & {};

/** Undefined for anything that is not an initialized token account. */
export function tokenAccountOf(account: Account | undefined) {
  if (!account || !tokenPrograms.has(account.owner) || account.data.length < getTokenSize()) return undefined;
  const token = getTokenDecoder().decode(account.data.subarray(0, getTokenSize()));
  return token.state === AccountState.Uninitialized ? undefined : token;
}

/** Undefined for anything that is not an initialized mint. */
export function mintOf(account: Account | undefined) {
  if (!account || !tokenPrograms.has(account.owner)) return undefined;
  if (account.data.length < getMintSize() || tokenAccountOf(account)) return undefined;
  const mint = getMintDecoder().decode(account.data.subarray(0, getMintSize()));
  return mint.isInitialized ? mint : undefined;
}

export interface UiAmount {
  readonly amount: string;
  readonly decimals: number;
  readonly uiAmount: number | null;
  readonly uiAmountString: string;
}

/** An amount in smallest units in JSON-RPC's format. */
export function uiAmount(amount: bigint, decimals: number): UiAmount {
  const digits = String(amount).padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  const text = fraction ? `${whole}.${fraction}` : whole;
  return { amount: String(amount), decimals, uiAmount: Number(text), uiAmountString: text };
}
