/** Contract calls within transactions: what a signature of the account would authorize, and what the call may cost. */
import { Operation, type Transaction, xdr } from '@stellar/stellar-sdk';

/** Stroops; nothing for a transaction that calls no contract. */
export function resourceFeeOf(transaction: Transaction): bigint {
  const envelope = transaction.toEnvelope();
  if (envelope.switch().name !== 'envelopeTypeTx') return 0n;
  const ext = envelope.v1().tx().ext();
  return ext.switch() === 1 ? ext.sorobanData().resourceFee().toBigInt() : 0n;
}

/**
 * Whether an operation is the wanted one and, where it calls a contract, authorizes that call and no other: by the signature of the
 * operation's account, without calls that the called contract would make in the account's name.
 */
export function authorizesOnly(operation: xdr.Operation, wanted: xdr.Operation): boolean {
  if (operation.body().switch().name !== 'invokeHostFunction') return same(operation, wanted);
  const { hostFunction, auth } = partsOf(operation);
  const bare = Operation.invokeHostFunction({ func: hostFunction, auth: [] });
  bare.sourceAccount(operation.sourceAccount());
  return same(bare, wanted) && auth.every((entry) => authorizesCall(entry, hostFunction));
}

function authorizesCall(entry: xdr.SorobanAuthorizationEntry, called: xdr.HostFunction): boolean {
  if (entry.credentials().switch().name !== 'sorobanCredentialsSourceAccount') return false;
  const root = entry.rootInvocation();
  if (root.subInvocations().length > 0) return false;
  if (root.function().switch().name !== 'sorobanAuthorizedFunctionTypeContractFn') return false;
  return same(xdr.HostFunction.hostFunctionTypeInvokeContract(root.function().contractFn()), called);
}

function partsOf(operation: xdr.Operation) {
  const invoke = operation.body().invokeHostFunctionOp();
  return { hostFunction: invoke.hostFunction(), auth: invoke.auth() };
}

const same = (a: { toXDR(): Buffer }, b: { toXDR(): Buffer }): boolean => a.toXDR().equals(b.toXDR());
