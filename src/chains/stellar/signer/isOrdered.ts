/** Compares operations with orders, by their bytes: the signer trusts no code that builds operations. */
import { Address, Asset, encodeMuxedAccountToAddress, scValToBigInt, xdr } from '@stellar/stellar-sdk';
import { coinAddress } from '../../../../domain/money.ts';
import type { TransferOrder } from '../../ports.ts';
import { accountOf } from '../addresses.ts';
import type { ContractCall } from '../contractCall.ts';
import { assetContractOf } from '../tokens.ts';

export interface Payer {
  /** Account (G…) that pays. */
  readonly account: string;
  readonly networkPassphrase: string;
}

/**
 * True if an operation moves exactly what was ordered: a payment of the order's own asset to an account, or a call of `transfer` of that
 * asset's contract to a contract. Reads the effect from the operation's bytes, independently of the code that builds operations.
 */
export function isOrdered(operation: xdr.Operation, order: TransferOrder, payer: Payer): boolean {
  const body = operation.body();
  if (accountOf(order.receiver) !== undefined)
    return body.switch().name === 'payment' && isPaymentOf(body.paymentOp(), order);
  return body.switch().name === 'invokeHostFunction' && isCallOf(body.invokeHostFunctionOp(), order, payer);
}

const isPaymentOf = (payment: xdr.PaymentOp, { token, receiver, amount }: TransferOrder): boolean =>
  nameOf(Asset.fromOperation(payment.asset())) === token.address &&
  encodeMuxedAccountToAddress(payment.destination()) === receiver &&
  payment.amount().toBigInt() === amount;

/** An asset in the spelling of orders. */
const nameOf = (asset: Asset): string => (asset.isNative() ? coinAddress : `${asset.getCode()}:${asset.getIssuer()}`);

function isCallOf(
  operation: xdr.InvokeHostFunctionOp,
  { token, receiver, amount }: TransferOrder,
  { account, networkPassphrase }: Payer,
): boolean {
  const called = operation.hostFunction();
  if (called.switch().name !== 'hostFunctionTypeInvokeContract') return false;
  const call = called.invokeContract();
  const [from, to, moved, ...more] = call.args();
  return (
    Address.fromScAddress(call.contractAddress()).toString() === assetContractOf(token, networkPassphrase) &&
    call.functionName().toString() === 'transfer' &&
    addressIn(from) === account &&
    addressIn(to) === receiver &&
    amountIn(moved) === amount &&
    more.length === 0 &&
    operation.auth().every((entry) => authorizesCall(entry, called))
  );
}

/**
 * True if an operation is exactly that call, authorized by the operation's account or by nobody.
 * @param below calls that its authorization may include. Default: none
 */
export function isCall(operation: xdr.Operation, wanted: ContractCall, below: readonly ContractCall[] = []): boolean {
  const body = operation.body();
  if (body.switch().name !== 'invokeHostFunction') return false;
  const called = body.invokeHostFunctionOp().hostFunction();
  if (called.switch().name !== 'hostFunctionTypeInvokeContract') return false;
  return (
    isArgsOf(called.invokeContract(), wanted) &&
    body
      .invokeHostFunctionOp()
      .auth()
      .every((entry) => authorizesCall(entry, called, below))
  );
}

const isArgsOf = (call: xdr.InvokeContractArgs, { contract, name, args }: ContractCall): boolean =>
  Address.fromScAddress(call.contractAddress()).toString() === contract &&
  call.functionName().toString() === name &&
  call.args().length === args.length &&
  call.args().every((given, at) => args[at] !== undefined && same(given, args[at]));

/** Last argument of a call of `approve`: the last ledger of the allowance. */
export function lastLedgerIn(operation: xdr.Operation): number | undefined {
  const body = operation.body();
  if (body.switch().name !== 'invokeHostFunction') return undefined;
  const called = body.invokeHostFunctionOp().hostFunction();
  if (called.switch().name !== 'hostFunctionTypeInvokeContract') return undefined;
  const last = called.invokeContract().args().at(-1);
  return last?.switch().name === 'scvU32' ? last.u32() : undefined;
}

const addressIn = (value: xdr.ScVal | undefined): string | undefined =>
  value?.switch().name === 'scvAddress' ? Address.fromScVal(value).toString() : undefined;

const amountIn = (value: xdr.ScVal | undefined): bigint | undefined =>
  value?.switch().name === 'scvI128' ? scValToBigInt(value) : undefined;

/**
 * True if an entry authorizes exactly that call, by the signature of the operation's account. Nested calls must be among those of `below`,
 * each once, without further ones.
 */
function authorizesCall(
  entry: xdr.SorobanAuthorizationEntry,
  called: xdr.HostFunction,
  below: readonly ContractCall[] = [],
): boolean {
  if (entry.credentials().switch().name !== 'sorobanCredentialsSourceAccount') return false;
  const root = entry.rootInvocation();
  const nested = root.subInvocations();
  const places = nested.map((each) => below.findIndex((wanted) => isAuthorizationOf(each, wanted)));
  if (places.includes(-1) || new Set(places).size !== places.length) return false;
  if (root.function().switch().name !== 'sorobanAuthorizedFunctionTypeContractFn') return false;
  return same(xdr.HostFunction.hostFunctionTypeInvokeContract(root.function().contractFn()), called);
}

const isAuthorizationOf = (invocation: xdr.SorobanAuthorizedInvocation, wanted: ContractCall): boolean =>
  invocation.subInvocations().length === 0 &&
  invocation.function().switch().name === 'sorobanAuthorizedFunctionTypeContractFn' &&
  isArgsOf(invocation.function().contractFn(), wanted);

const same = (a: { toXDR(): Buffer }, b: { toXDR(): Buffer }): boolean => a.toXDR().equals(b.toXDR());
