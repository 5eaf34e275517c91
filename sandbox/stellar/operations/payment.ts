import { type Transaction, xdr } from '@stellar/stellar-sdk';
import { transferEvent } from '../events.ts';
import { addBalance, BalanceError, type BalanceFault } from '../ledger/balances.ts';
import { accountKey } from '../ledger/entries.ts';
import { issuerOf, uint64 } from '../xdr.ts';
import {
  type Applied,
  applied,
  failed,
  muxedId,
  type OperationContext,
  type OperationOf,
  plainAccount,
  stroops,
} from './operation.ts';

const failures = {
  sender: {
    noAccount: () => xdr.PaymentResult.paymentMalformed(),
    noTrustline: () => xdr.PaymentResult.paymentSrcNoTrust(),
    notAuthorized: () => xdr.PaymentResult.paymentSrcNotAuthorized(),
    underfunded: () => xdr.PaymentResult.paymentUnderfunded(),
    lineFull: () => xdr.PaymentResult.paymentMalformed(),
  },
  receiver: {
    noAccount: () => xdr.PaymentResult.paymentNoDestination(),
    noTrustline: () => xdr.PaymentResult.paymentNoTrust(),
    notAuthorized: () => xdr.PaymentResult.paymentNotAuthorized(),
    underfunded: () => xdr.PaymentResult.paymentMalformed(),
    lineFull: () => xdr.PaymentResult.paymentLineFull(),
  },
} satisfies Record<string, Record<BalanceFault, () => xdr.PaymentResult>>;

/** Moves an asset between accounts, with the event that the asset's contract would publish (CAP-67). */
export function payment(context: OperationContext, operation: OperationOf<'payment'>): Applied {
  const { asset } = operation;
  const { network, source, view } = context;
  const contract = asset.contractId(network.passphrase);
  const amount = stroops(operation.amount);
  const to = plainAccount(operation.destination);
  const fail = (result: xdr.PaymentResult) => failed(xdr.OperationResultTr.payment(result));

  if (!asset.isNative() && issuerOf(asset) !== to && !view.get(accountKey(to)))
    return fail(failures.receiver.noAccount());
  const add = (holder: string, change: bigint) => faultOf(() => addBalance(view, asset, contract, holder, change));
  // The receiver's faults are reported first, as on the network.
  const notReceived = add(to, amount);
  if (notReceived) return fail(failures.receiver[notReceived]());
  const notSent = add(source, -amount);
  if (notSent) return fail(failures.sender[notSent]());

  const toId = receiverId(operation.destination, context.transaction.memo);
  const event = transferEvent(asset, contract, { from: source, to, amount, toId });
  return applied(xdr.OperationResultTr.payment(xdr.PaymentResult.paymentSuccess()), [event]);
}

/** Changes balances. @returns the fault if they do not allow it */
export function faultOf(change: () => void): BalanceFault | undefined {
  try {
    change();
    return undefined;
  } catch (error) {
    if (error instanceof BalanceError) return error.fault;
    throw error;
  }
}

/** The id of a payment: that of an M-address, else the memo. */
export function receiverId(destination: string, memo: Transaction['memo']): xdr.ScVal | undefined {
  const id = muxedId(destination);
  if (id) return xdr.ScVal.scvU64(id);
  const { type, value } = memo;
  if (value === null || type === 'none') return undefined;
  if (type === 'id') return xdr.ScVal.scvU64(uint64(BigInt(value.toString())));
  return type === 'text' ? xdr.ScVal.scvString(value) : xdr.ScVal.scvBytes(Buffer.from(value));
}
