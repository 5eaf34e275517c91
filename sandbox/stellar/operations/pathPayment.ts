/** Path payments. There are no offers here, so only paths through one asset are possible. */
import { type Asset, xdr } from '@stellar/stellar-sdk';
import { transferEvent } from '../events.ts';
import { addBalance, type BalanceFault } from '../ledger/balances.ts';
import { accountKey } from '../ledger/entries.ts';
import type { View } from '../ledger/view.ts';
import { accountId, int64, issuerOf } from '../xdr.ts';
import {
  type Applied,
  applied,
  failed,
  type OperationContext,
  type OperationOf,
  plainAccount,
  stroops,
} from './operation.ts';
import { faultOf, receiverId } from './payment.ts';

type Receive = OperationOf<'pathPaymentStrictReceive'>;
type Send = OperationOf<'pathPaymentStrictSend'>;

const receiveResult = xdr.PathPaymentStrictReceiveResult;
const receiveFaults = {
  sender: {
    noAccount: () => receiveResult.pathPaymentStrictReceiveMalformed(),
    noTrustline: () => receiveResult.pathPaymentStrictReceiveSrcNoTrust(),
    notAuthorized: () => receiveResult.pathPaymentStrictReceiveSrcNotAuthorized(),
    underfunded: () => receiveResult.pathPaymentStrictReceiveUnderfunded(),
    lineFull: () => receiveResult.pathPaymentStrictReceiveMalformed(),
  },
  receiver: {
    noAccount: () => receiveResult.pathPaymentStrictReceiveNoDestination(),
    noTrustline: () => receiveResult.pathPaymentStrictReceiveNoTrust(),
    notAuthorized: () => receiveResult.pathPaymentStrictReceiveNotAuthorized(),
    underfunded: () => receiveResult.pathPaymentStrictReceiveMalformed(),
    lineFull: () => receiveResult.pathPaymentStrictReceiveLineFull(),
  },
} satisfies Record<string, Record<BalanceFault, () => xdr.PathPaymentStrictReceiveResult>>;

const sendResult = xdr.PathPaymentStrictSendResult;
const sendFaults = {
  sender: {
    noAccount: () => sendResult.pathPaymentStrictSendMalformed(),
    noTrustline: () => sendResult.pathPaymentStrictSendSrcNoTrust(),
    notAuthorized: () => sendResult.pathPaymentStrictSendSrcNotAuthorized(),
    underfunded: () => sendResult.pathPaymentStrictSendUnderfunded(),
    lineFull: () => sendResult.pathPaymentStrictSendMalformed(),
  },
  receiver: {
    noAccount: () => sendResult.pathPaymentStrictSendNoDestination(),
    noTrustline: () => sendResult.pathPaymentStrictSendNoTrust(),
    notAuthorized: () => sendResult.pathPaymentStrictSendNotAuthorized(),
    underfunded: () => sendResult.pathPaymentStrictSendMalformed(),
    lineFull: () => sendResult.pathPaymentStrictSendLineFull(),
  },
} satisfies Record<string, Record<BalanceFault, () => xdr.PathPaymentStrictSendResult>>;

/** Pays an exact amount. The receiver's faults are reported before the path's, the sender's last. */
export function pathPaymentStrictReceive(context: OperationContext, operation: Receive): Applied {
  const { destination, sendAsset, destAsset, path } = operation;
  const amount = stroops(operation.destAmount);
  const fail = (result: xdr.PathPaymentStrictReceiveResult) =>
    failed(xdr.OperationResultTr.pathPaymentStrictReceive(result));
  const notReceived = receive(context, destAsset, destination, amount);
  if (notReceived) return fail(receiveFaults.receiver[notReceived]());
  if (!isOneAsset([sendAsset, ...path, destAsset])) return fail(receiveResult.pathPaymentStrictReceiveTooFewOffers());
  if (amount > stroops(operation.sendMax)) return fail(receiveResult.pathPaymentStrictReceiveOverSendmax());
  const notSent = send(context, sendAsset, amount);
  if (notSent) return fail(receiveFaults.sender[notSent]());
  const success = new xdr.PathPaymentStrictReceiveResultSuccess({
    offers: [],
    last: paid(destination, destAsset, amount),
  });
  const result = receiveResult.pathPaymentStrictReceiveSuccess(success);
  const event = transferOf(context, destAsset, destination, amount);
  return applied(xdr.OperationResultTr.pathPaymentStrictReceive(result), [event]);
}

/** Spends an exact amount. The sender's faults are reported before the path's, the receiver's last. */
export function pathPaymentStrictSend(context: OperationContext, operation: Send): Applied {
  const { destination, sendAsset, destAsset, path } = operation;
  const amount = stroops(operation.sendAmount);
  const fail = (result: xdr.PathPaymentStrictSendResult) => failed(xdr.OperationResultTr.pathPaymentStrictSend(result));
  if (isMissing(context.view, destAsset, destination)) return fail(sendResult.pathPaymentStrictSendNoDestination());
  const notSent = send(context, sendAsset, amount);
  if (notSent) return fail(sendFaults.sender[notSent]());
  if (!isOneAsset([sendAsset, ...path, destAsset])) return fail(sendResult.pathPaymentStrictSendTooFewOffers());
  if (amount < stroops(operation.destMin)) return fail(sendResult.pathPaymentStrictSendUnderDestmin());
  const notReceived = receive(context, destAsset, destination, amount);
  if (notReceived) return fail(sendFaults.receiver[notReceived]());
  const success = new xdr.PathPaymentStrictSendResultSuccess({
    offers: [],
    last: paid(destination, destAsset, amount),
  });
  const result = sendResult.pathPaymentStrictSendSuccess(success);
  const event = transferOf(context, destAsset, destination, amount);
  return applied(xdr.OperationResultTr.pathPaymentStrictSend(result), [event]);
}

const isOneAsset = (assets: readonly Asset[]): boolean => assets.every((asset) => assets[0]?.equals(asset));

const isMissing = (view: View, asset: Asset, destination: string): boolean => {
  const account = plainAccount(destination);
  return (asset.isNative() || issuerOf(asset) !== account) && !view.get(accountKey(account));
};

function receive({ view, network }: OperationContext, asset: Asset, destination: string, amount: bigint) {
  if (isMissing(view, asset, destination)) return 'noAccount';
  const contract = asset.contractId(network.passphrase);
  return faultOf(() => addBalance(view, asset, contract, plainAccount(destination), amount));
}

function send({ view, network, source }: OperationContext, asset: Asset, amount: bigint) {
  const contract = asset.contractId(network.passphrase);
  return faultOf(() => addBalance(view, asset, contract, source, -amount));
}

function transferOf(context: OperationContext, asset: Asset, destination: string, amount: bigint): xdr.ContractEvent {
  const { network, source, transaction } = context;
  const toId = receiverId(destination, transaction.memo);
  const move = { from: source, to: plainAccount(destination), amount, toId };
  return transferEvent(asset, asset.contractId(network.passphrase), move);
}

const paid = (destination: string, asset: Asset, amount: bigint): xdr.SimplePaymentResult =>
  new xdr.SimplePaymentResult({
    destination: accountId(plainAccount(destination)),
    asset: asset.toXDRObject(),
    amount: int64(amount),
  });
