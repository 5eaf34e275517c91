import { xdr } from '@stellar/stellar-sdk';
import { accountDataEntry, accountDataKey } from '../ledger/entries.ts';
import { countSubEntries } from './changeTrust.ts';
import { type Applied, applied, failed, type OperationContext, type OperationOf } from './operation.ts';

/** Sets or (without a value) deletes a data entry of the account. */
export function manageData(context: OperationContext, { name, value }: OperationOf<'manageData'>): Applied {
  const { view, source } = context;
  const key = accountDataKey(source, name);
  const known = view.get(key) !== undefined;
  if (value === undefined) {
    if (!known) return fail(xdr.ManageDataResult.manageDataNameNotFound());
    view.remove(key);
    countSubEntries(context, -1);
    return succeed();
  }
  if (!known && !countSubEntries(context, 1)) return fail(xdr.ManageDataResult.manageDataLowReserve());
  view.put(key, accountDataEntry(source, name, Buffer.from(value)));
  return succeed();
}

const fail = (result: xdr.ManageDataResult) => failed(xdr.OperationResultTr.manageData(result));
const succeed = () => applied(xdr.OperationResultTr.manageData(xdr.ManageDataResult.manageDataSuccess()));
