import { Asset, xdr } from '@stellar/stellar-sdk';
import { addBalance, BalanceError, minimumBalance } from '../ledger/balances.ts';
import { accountEntry } from '../ledger/entries.ts';
import { accountKey } from '../ledger/keys.ts';
import { type Applied, applied, failed, type OperationContext, type OperationOf, stroops } from './operation.ts';

export function createAccount(context: OperationContext, operation: OperationOf<'createAccount'>): Applied {
  const { view, network, ledger, source } = context;
  const { destination } = operation;
  const amount = stroops(operation.startingBalance);
  const fail = (result: xdr.CreateAccountResult) => failed(xdr.OperationResultTr.createAccount(result));

  if (view.get(accountKey(destination))) return fail(xdr.CreateAccountResult.createAccountAlreadyExist());
  if (amount < minimumBalance(0)) return fail(xdr.CreateAccountResult.createAccountLowReserve());
  try {
    addBalance(view, Asset.native(), Asset.native().contractId(network.passphrase), source, -amount);
  } catch (error) {
    if (error instanceof BalanceError) return fail(xdr.CreateAccountResult.createAccountUnderfunded());
    throw error;
  }
  view.put(accountKey(destination), accountEntry(destination, amount, ledger.sequence));
  return applied(xdr.OperationResultTr.createAccount(xdr.CreateAccountResult.createAccountSuccess()));
}
