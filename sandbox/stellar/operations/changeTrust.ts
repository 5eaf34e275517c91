import { Asset, xdr } from '@stellar/stellar-sdk';
import { minimumBalance } from '../ledger/balances.ts';
import { accountKey, trustlineEntry, trustlineKey } from '../ledger/entries.ts';
import { bigintOf, int64, issuerOf } from '../xdr.ts';
import {
  type Applied,
  applied,
  failed,
  type OperationContext,
  type OperationOf,
  stroops,
  unsupported,
} from './operation.ts';

/** Opens, limits or (with limit 0) closes a trustline. */
export function changeTrust(context: OperationContext, operation: OperationOf<'changeTrust'>): Applied {
  const { line: asset } = operation;
  if (!(asset instanceof Asset)) return unsupported();
  const { view, source } = context;
  const limit = stroops(operation.limit);
  const key = trustlineKey(source, asset);
  const line = view.get(key)?.trustLine();

  if (asset.isNative() || issuerOf(asset) === source) return fail(xdr.ChangeTrustResult.changeTrustMalformed());
  if (line && limit < bigintOf(line.balance())) return fail(xdr.ChangeTrustResult.changeTrustInvalidLimit());
  if (limit === 0n) {
    if (!line) return fail(xdr.ChangeTrustResult.changeTrustInvalidLimit());
    view.remove(key);
    countSubEntries(context, -1);
    return succeed();
  }
  if (line) {
    view.change(key, (data) => data.trustLine().limit(int64(limit)));
    return succeed();
  }
  if (!view.get(accountKey(issuerOf(asset)))) return fail(xdr.ChangeTrustResult.changeTrustNoIssuer());
  if (!countSubEntries(context, 1)) return fail(xdr.ChangeTrustResult.changeTrustLowReserve());
  view.put(key, trustlineEntry(source, asset, limit));
  return succeed();
}

/** @returns whether the account's balance covers it */
export function countSubEntries({ view, source }: Pick<OperationContext, 'view' | 'source'>, more: number): boolean {
  const account = view.get(accountKey(source))?.account();
  if (!account) return false;
  const count = account.numSubEntries() + more;
  if (more > 0 && bigintOf(account.balance()) < minimumBalance(count)) return false;
  view.change(accountKey(source), (data) => data.account().numSubEntries(count));
  return true;
}

const fail = (result: xdr.ChangeTrustResult) => failed(xdr.OperationResultTr.changeTrust(result));
const succeed = () => applied(xdr.OperationResultTr.changeTrust(xdr.ChangeTrustResult.changeTrustSuccess()));
