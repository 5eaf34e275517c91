import { bumpSequence, createAccount, setOptions } from './accounts.ts';
import { changeTrust } from './changeTrust.ts';
import { invokeHostFunction } from './invokeHostFunction.ts';
import { manageData } from './manageData.ts';
import { type Applied, type Operation, type OperationContext, unsupported } from './operation.ts';
import { pathPaymentStrictReceive, pathPaymentStrictSend } from './pathPayment.ts';
import { payment } from './payment.ts';

/** Applies one operation to its layer of the ledger; a failed one leaves writes there that must not be committed. */
export function applyOperation(context: OperationContext, operation: Operation): Applied {
  switch (operation.type) {
    case 'payment':
      return payment(context, operation);
    case 'pathPaymentStrictReceive':
      return pathPaymentStrictReceive(context, operation);
    case 'pathPaymentStrictSend':
      return pathPaymentStrictSend(context, operation);
    case 'createAccount':
      return createAccount(context, operation);
    case 'changeTrust':
      return changeTrust(context, operation);
    case 'setOptions':
      return setOptions(context, operation);
    case 'manageData':
      return manageData(context, operation);
    case 'bumpSequence':
      return bumpSequence(context, operation);
    case 'invokeHostFunction':
      return invokeHostFunction(context, operation);
    default:
      return unsupported();
  }
}

type Threshold = 'low' | 'medium' | 'high';

/** Required weight of an operation's signatures. */
export function thresholdOf(operation: Operation): Threshold {
  if (operation.type === 'bumpSequence') return 'low';
  if (operation.type !== 'setOptions') return 'medium';
  const { masterWeight, lowThreshold, medThreshold, highThreshold, signer } = operation;
  const changes = [masterWeight, lowThreshold, medThreshold, highThreshold, signer];
  return changes.some((change) => change !== undefined) ? 'high' : 'medium';
}
