/** Plays the world around a local Solana from outside its process: money, time, forks, faults. */
import { callNode } from '../askNode.ts';
import type { SolanaFault } from '../faults.ts';
import { usdc } from './usdc.ts';

/** In smallest units: 10^-9 of a SOL, 10^-6 of a USDC. */
export interface Money {
  readonly lamports?: bigint;
  readonly usdc?: bigint;
  /** Other tokens, by mint. */
  readonly tokens?: Readonly<Record<string, bigint>>;
}

/** Adds a mint to the network: USDC exists already. @param program default: Token */
export async function plantMint(rpcUrl: string, mint: string, decimals = 6, program?: string): Promise<void> {
  await control(rpcUrl, 'sandbox_plant', { mint, decimals, ...(program !== undefined && { program }) });
}

/**
 * Adds money to a wallet; its associated token accounts are created.
 * @returns their addresses by mint
 */
export async function fundWallet(
  rpcUrl: string,
  address: string,
  { lamports = 0n, usdc: dollars, tokens = {} }: Money,
): Promise<Readonly<Record<string, string>>> {
  const amounts = { ...tokens, ...(dollars !== undefined && { [usdc.mint]: dollars }) };
  const texts = Object.fromEntries(Object.entries(amounts).map(([mint, amount]) => [mint, String(amount)]));
  const params = { address, lamports: String(lamports), tokens: texts };
  const { accounts } = await control<{ accounts: Record<string, string> }>(rpcUrl, 'sandbox_fund', params);
  return accounts;
}

/** Advances to later slots now, each at least this many seconds after the previous one. @returns the newest */
export async function advanceSlots(rpcUrl: string, slots = 1, seconds = 0): Promise<number> {
  const { slot } = await control<{ slot: number }>(rpcUrl, 'sandbox_advanceSlots', { slots, seconds });
  return slot;
}

/** Makes every earlier blockhash too old. @returns the newest slot */
export const expireBlockhashes = (rpcUrl: string): Promise<number> => advanceSlots(rpcUrl, 151);

/**
 * Removes everything after a slot, including planted money; other blocks replace it.
 * @param landAgain the same transactions land again in the newest slot, if they still can
 * @returns the removed signatures
 * @throws Error if the slot is final
 */
export async function forkTo(rpcUrl: string, slot: number, landAgain = false): Promise<readonly string[]> {
  const { gone } = await control<{ gone: readonly string[] }>(rpcUrl, 'sandbox_fork', { to: slot, landAgain });
  return gone;
}

/** Puts the programs of CCTP onto the chain, where USDC must be. @param attesters addresses, `0x` and 40 hex digits, ascending */
export async function plantSolanaCctp(rpcUrl: string, attesters: readonly string[]): Promise<void> {
  await control(rpcUrl, 'sandbox_plantCctp', { attesters: attesters.map((each) => each.slice(2)).join(',') });
}

export async function addFault(rpcUrl: string, fault: SolanaFault): Promise<void> {
  await control(rpcUrl, 'sandbox_fault', { ...fault });
}

export async function clearFaults(rpcUrl: string): Promise<void> {
  await control(rpcUrl, 'sandbox_clearFaults', {});
}

const control = <T>(rpcUrl: string, method: string, params: object): Promise<T> => callNode(rpcUrl, method, [params]);
