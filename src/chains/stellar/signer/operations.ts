/** What an operation would do if it were signed, read out of its bytes: nothing here builds what it compares with. */
import {
  Address,
  Asset,
  encodeMuxedAccountToAddress,
  scValToBigInt,
  type Transaction,
  xdr,
} from '@stellar/stellar-sdk';
import { coinAddress } from '../../../../domain/coins.ts';
import type { TransferOrder } from '../../ports.ts';
import { accountOf } from '../addresses.ts';
import { assetContractOf } from '../tokens.ts';

export interface Payer {
  /** The account (G…) whose money moves. */
  readonly account: string;
  readonly networkPassphrase: string;
}

/**
 * Whether an operation moves what was ordered and nothing else: a payment of the order's own asset to an account, or a call of
 * `transfer` of that asset's contract to a contract.
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

/** As orders spell an asset. */
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

const addressIn = (value: xdr.ScVal | undefined): string | undefined =>
  value?.switch().name === 'scvAddress' ? Address.fromScVal(value).toString() : undefined;

const amountIn = (value: xdr.ScVal | undefined): bigint | undefined =>
  value?.switch().name === 'scvI128' ? scValToBigInt(value) : undefined;

/** Whether an entry authorizes that call and no other: by the signature of the operation's account, and no call that it makes in turn. */
function authorizesCall(entry: xdr.SorobanAuthorizationEntry, called: xdr.HostFunction): boolean {
  if (entry.credentials().switch().name !== 'sorobanCredentialsSourceAccount') return false;
  const root = entry.rootInvocation();
  if (root.subInvocations().length > 0) return false;
  if (root.function().switch().name !== 'sorobanAuthorizedFunctionTypeContractFn') return false;
  return same(xdr.HostFunction.hostFunctionTypeInvokeContract(root.function().contractFn()), called);
}

/** Whether an operation is without effect: it raises the account's number to 0, which no account is below. */
export function doesNothing(operation: xdr.Operation): boolean {
  const body = operation.body();
  return body.switch().name === 'bumpSequence' && body.bumpSequenceOp().bumpTo().toBigInt() === 0n;
}

/** Stroops that a transaction may pay for resources; 0 for a transaction that calls no contract. */
export function resourceFeeOf(transaction: Transaction): bigint {
  const envelope = transaction.toEnvelope();
  if (envelope.switch().name !== 'envelopeTypeTx') return 0n;
  const ext = envelope.v1().tx().ext();
  return ext.switch() === 1 ? ext.sorobanData().resourceFee().toBigInt() : 0n;
}

const same = (a: { toXDR(): Buffer }, b: { toXDR(): Buffer }): boolean => a.toXDR().equals(b.toXDR());
