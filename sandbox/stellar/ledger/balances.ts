/** Balances: lumens in the account, issued assets in a trustline, those of contracts in the asset contract's data. */
import { type Asset, StrKey, xdr } from '@stellar/stellar-sdk';
import { addressVal, bigintOf, i128, i128Of, inMap, int64, symbol, symbolMap } from '../xdr.ts';
import { accountKey, dataEntry, dataKey, trustlineKey } from './entries.ts';
import type { View } from './view.ts';

export type BalanceFault = 'noAccount' | 'noTrustline' | 'notAuthorized' | 'underfunded' | 'lineFull';

/** An expected refusal; operations and the asset contract each have their own code for it. */
export class BalanceError extends Error {
  override readonly name = 'BalanceError';
  readonly fault: BalanceFault;
  constructor(fault: BalanceFault, holder: string) {
    super(`${fault}: ${holder}`);
    this.fault = fault;
  }
}

const baseReserve = 5_000_000n;
const authorizedFlag = 1;
const most = 2n ** 63n - 1n;

/** Minimum balance of an account: two reserves and one for each trustline, signer and so on. In stroops. */
export const minimumBalance = (subEntries: number): bigint => BigInt(2 + subEntries) * baseReserve;

/**
 * Adds to a holder's balance, or deducts a negative `amount`. The issuer has any amount of its own asset.
 * @param contractId the asset's contract, which keeps the balances of contracts
 * @throws BalanceError
 */
export function addBalance(view: View, asset: Asset, contractId: string, holder: string, amount: bigint): void {
  if (StrKey.isValidContract(holder)) addToContract(view, contractId, holder, amount);
  else if (asset.isNative()) addLumens(view, holder, amount);
  else if (holder !== asset.getIssuer()) addToTrustline(view, asset, holder, amount);
}

function addToTrustline(view: View, asset: Asset, holder: string, amount: bigint): void {
  const key = trustlineKey(holder, asset);
  const line = view.get(key)?.trustLine();
  if (!line) throw new BalanceError('noTrustline', holder);
  if (!(line.flags() & authorizedFlag)) throw new BalanceError('notAuthorized', holder);
  const balance = bigintOf(line.balance()) + amount;
  if (balance < 0n) throw new BalanceError('underfunded', holder);
  if (balance > bigintOf(line.limit())) throw new BalanceError('lineFull', holder);
  view.change(key, (data) => data.trustLine().balance(int64(balance)));
}

function addLumens(view: View, holder: string, amount: bigint): void {
  const key = accountKey(holder);
  const account = view.get(key)?.account();
  if (!account) throw new BalanceError('noAccount', holder);
  const balance = bigintOf(account.balance()) + amount;
  if (amount < 0n && balance < minimumBalance(account.numSubEntries())) throw new BalanceError('underfunded', holder);
  if (balance > most) throw new BalanceError('lineFull', holder);
  view.change(key, (data) => data.account().balance(int64(balance)));
}

function addToContract(view: View, contractId: string, holder: string, amount: bigint): void {
  const key = contractBalanceKey(contractId, holder);
  const balance = contractBalance(view, contractId, holder) + amount;
  if (balance < 0n) throw new BalanceError('underfunded', holder);
  const no = xdr.ScVal.scvBool(false);
  const val = symbolMap({ amount: i128(balance), authorized: xdr.ScVal.scvBool(true), clawback: no });
  view.put(key, dataEntry(key, val));
}

const contractBalanceKey = (contractId: string, holder: string) =>
  dataKey(contractId, xdr.ScVal.scvVec([symbol('Balance'), addressVal(holder)]), 'persistent');

function contractBalance(view: View, contractId: string, holder: string): bigint {
  const data = view.get(contractBalanceKey(contractId, holder));
  const amount = data && inMap(data.contractData().val(), 'amount');
  return amount ? i128Of(amount.i128()) : 0n;
}

/** @throws BalanceError when an account has no trustline */
export function readBalance(view: View, asset: Asset, contractId: string, holder: string): bigint {
  if (StrKey.isValidContract(holder)) return contractBalance(view, contractId, holder);
  if (asset.isNative()) {
    const account = view.get(accountKey(holder))?.account();
    if (!account) throw new BalanceError('noAccount', holder);
    return bigintOf(account.balance());
  }
  if (holder === asset.getIssuer()) return most;
  const line = view.get(trustlineKey(holder, asset))?.trustLine();
  if (!line) throw new BalanceError('noTrustline', holder);
  return bigintOf(line.balance());
}
