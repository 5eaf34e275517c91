/** Faults of operations that nodes find without the ledger: they refuse such transactions. */
import { Asset, xdr } from '@stellar/stellar-sdk';
import { issuerOf } from '../xdr.ts';
import { type Operation, stroops } from './operation.ts';

const tr = xdr.OperationResultTr;
const nameBytesMax = 64;

/** @param source account of the operation @returns undefined for an operation that may be applied */
export function malformed(operation: Operation, source: string): xdr.OperationResult | undefined {
  const fault = faultOf(operation, source);
  return fault && xdr.OperationResult.opInner(fault);
}

function faultOf(operation: Operation, source: string): xdr.OperationResultTr | undefined {
  switch (operation.type) {
    case 'payment':
      return stroops(operation.amount) > 0n ? undefined : tr.payment(xdr.PaymentResult.paymentMalformed());
    case 'pathPaymentStrictReceive':
      return stroops(operation.destAmount) > 0n && stroops(operation.sendMax) > 0n
        ? undefined
        : tr.pathPaymentStrictReceive(xdr.PathPaymentStrictReceiveResult.pathPaymentStrictReceiveMalformed());
    case 'pathPaymentStrictSend':
      return stroops(operation.sendAmount) > 0n && stroops(operation.destMin) > 0n
        ? undefined
        : tr.pathPaymentStrictSend(xdr.PathPaymentStrictSendResult.pathPaymentStrictSendMalformed());
    case 'createAccount':
      return operation.destination !== source
        ? undefined
        : tr.createAccount(xdr.CreateAccountResult.createAccountMalformed());
    case 'changeTrust': {
      const { line } = operation;
      if (!(line instanceof Asset)) return undefined;
      const isMalformed = line.isNative() || issuerOf(line) === source;
      return isMalformed ? tr.changeTrust(xdr.ChangeTrustResult.changeTrustMalformed()) : undefined;
    }
    case 'bumpSequence':
      return BigInt(operation.bumpTo) >= 0n ? undefined : tr.bumpSequence(xdr.BumpSequenceResult.bumpSequenceBadSeq());
    case 'manageData': {
      const bytes = Buffer.byteLength(operation.name);
      const isMalformed = bytes === 0 || bytes > nameBytesMax;
      return isMalformed ? tr.manageData(xdr.ManageDataResult.manageDataInvalidName()) : undefined;
    }
    case 'setOptions': {
      const { signer } = operation;
      const isMalformed = signer && 'ed25519PublicKey' in signer && signer.ed25519PublicKey === source;
      return isMalformed ? tr.setOptions(xdr.SetOptionsResult.setOptionsBadSigner()) : undefined;
    }
    default:
      return undefined;
  }
}

/** The result of a correct operation if another operation of the transaction is malformed. */
export function succeededResult(operation: Operation): xdr.OperationResult {
  const inner = succeeded(operation);
  return inner ? xdr.OperationResult.opInner(inner) : xdr.OperationResult.opNotSupported();
}

function succeeded({ type }: Operation): xdr.OperationResultTr | undefined {
  switch (type) {
    case 'payment':
      return tr.payment(xdr.PaymentResult.paymentSuccess());
    case 'createAccount':
      return tr.createAccount(xdr.CreateAccountResult.createAccountSuccess());
    case 'changeTrust':
      return tr.changeTrust(xdr.ChangeTrustResult.changeTrustSuccess());
    case 'setOptions':
      return tr.setOptions(xdr.SetOptionsResult.setOptionsSuccess());
    case 'manageData':
      return tr.manageData(xdr.ManageDataResult.manageDataSuccess());
    case 'bumpSequence':
      return tr.bumpSequence(xdr.BumpSequenceResult.bumpSequenceSuccess());
    default:
      return undefined;
  }
}
