/** Play money: assets and balances without transactions. */
import { type Asset, StrKey, xdr } from '@stellar/stellar-sdk';
import { plantAssetContract } from './contracts/deploy.ts';
import { addBalance } from './ledger/balances.ts';
import { accountEntry, accountKey, trustlineEntry, trustlineKey } from './ledger/entries.ts';
import type { LedgerHead, Network } from './ledger/network.ts';
import type { View } from './ledger/view.ts';
import { issuerOf } from './xdr.ts';

export interface Planting {
  readonly network: Network;
  readonly ledger: LedgerHead;
  readonly view: View;
}

/** In smallest units. */
export interface Funds {
  readonly lumens?: bigint;
  readonly tokens?: readonly { readonly asset: Asset; readonly amount: bigint }[];
}

const limitMax = 2n ** 63n - 1n;
const issuerLumens = 100n * 10n ** 7n;
/** Default balance of a new account: enough for reserves and many fees. In stroops. */
const usualLumens = 10_000n * 10n ** 7n;

/** An asset with its issuer's account and its contract. Planting it again changes nothing. */
export function plantAsset({ view, network, ledger }: Planting, asset: Asset): void {
  if (!asset.isNative() && !view.get(accountKey(issuerOf(asset)))) {
    view.put(accountKey(issuerOf(asset)), accountEntry(issuerOf(asset), issuerLumens, ledger.sequence));
  }
  plantAssetContract(view, network, asset);
}

/** Adds to an address's balance; creates accounts and trustlines as needed. */
export function plantFunds(planting: Planting, address: string, { lumens = 0n, tokens = [] }: Funds): void {
  const { view, network, ledger } = planting;
  const isAccount = StrKey.isValidEd25519PublicKey(address);
  if (isAccount) plantLumens(planting, address, lumens);
  for (const { asset, amount } of tokens) {
    const key = isAccount ? trustlineKey(address, asset) : undefined;
    if (key && !view.get(key)) {
      view.put(key, trustlineEntry(address, asset, limitMax));
      view.change(accountKey(address), (data) => count(data.account()));
    }
    plantAsset({ view, network, ledger }, asset);
    addBalance(view, asset, asset.contractId(network.passphrase), address, amount);
  }
}

function plantLumens({ view, ledger }: Planting, account: string, lumens: bigint): void {
  const key = accountKey(account);
  if (!view.get(key)) view.put(key, accountEntry(account, lumens || usualLumens, ledger.sequence));
  else
    view.change(key, (data) =>
      data.account().balance(xdr.Int64.fromString(String(BigInt(String(data.account().balance())) + lumens))),
    );
}

const count = (account: xdr.AccountEntry) => void account.numSubEntries(account.numSubEntries() + 1);
