/** Plays the world around a local Stellar from outside its process: money, time, faults. */
import { Asset } from '@stellar/stellar-sdk';
import { callNode } from '../askNode.ts';
import type { StellarFault } from '../faults.ts';

/** USDC as Circle issues it on the public network. */
export const usdc = new Asset('USDC', 'GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN');

/** USDT as USDT0 issues it on the public network. */
export const usdt = new Asset('USDT0', 'GATISXX6BZ6NC7IKQBY37CJD4SOZL3CYZJWXEDG6JVIY4WBS6KXJHN6Q');

/** In smallest units: 10^-7 of a lumen, a USDC or a USDT. */
export interface Money {
  /** By default a new account gets 10,000 lumens. */
  readonly lumens?: bigint;
  readonly usdc?: bigint;
  readonly usdt?: bigint;
}

/** Puts USDC with its issuer and its contract onto the network. @returns the contract's id */
export const plantUsdc = (rpcUrl: string): Promise<string> => plantAsset(rpcUrl, usdc);

/** Puts any asset onto the network. */
export async function plantAsset(rpcUrl: string, asset: Asset): Promise<string> {
  const { contractId } = await callNode<{ contractId: string }>(rpcUrl, 'sandbox_plant', { asset: nameOf(asset) });
  return contractId;
}

/** Puts the contracts of CCTP onto the network, where USDC must be. @param attesters addresses, `0x` and 40 hex digits, ascending */
export async function plantStellarCctp(rpcUrl: string, attesters: readonly string[]): Promise<void> {
  await callNode(rpcUrl, 'sandbox_plantCctp', { attesters: attesters.map((each) => each.slice(2)).join(',') });
}

/** Puts the contracts of USDT0 onto the network, with the token. @param verifier account that verifies messages */
export async function plantStellarUsdt0(rpcUrl: string, verifier: string): Promise<void> {
  await callNode(rpcUrl, 'sandbox_plantUsdt0', { verifier });
}

/** Adds money to an address; accounts are created and get their trustlines. */
export async function fundAccount(rpcUrl: string, address: string, { lumens = 0n, ...amounts }: Money): Promise<void> {
  const given = [
    [usdc, amounts.usdc],
    [usdt, amounts.usdt],
  ] as const;
  const tokens = Object.fromEntries(
    given.flatMap(([asset, amount]) => (amount === undefined ? [] : [[nameOf(asset), String(amount)]])),
  );
  await callNode(rpcUrl, 'sandbox_fund', { address, lumens: String(lumens), tokens });
}

/** Opens a trustline for an account without its signature. */
export async function openTrustline(rpcUrl: string, account: string, asset: Asset): Promise<void> {
  await callNode(rpcUrl, 'sandbox_fund', { address: account, lumens: '0', tokens: { [nameOf(asset)]: '0' } });
}

/** Closes ledgers now, each at least this many seconds after the previous one. @returns the last one's number */
export async function closeLedgers(rpcUrl: string, count = 1, seconds = 0): Promise<number> {
  const { sequence } = await callNode<{ sequence: number }>(rpcUrl, 'sandbox_closeLedgers', { count, seconds });
  return sequence;
}

export async function addFault(rpcUrl: string, fault: StellarFault): Promise<void> {
  await callNode(rpcUrl, 'sandbox_fault', { ...fault });
}

export async function clearFaults(rpcUrl: string): Promise<void> {
  await callNode(rpcUrl, 'sandbox_clearFaults', {});
}

/** Makes the node forget the ledgers before a ledger. */
export async function forgetBefore(rpcUrl: string, ledger: number): Promise<void> {
  await callNode(rpcUrl, 'sandbox_forget', { before: ledger });
}

const nameOf = (asset: Asset) => `${asset.getCode()}:${asset.getIssuer()}`;
