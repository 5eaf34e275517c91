import { xdr } from '@stellar/stellar-sdk';
import { runAuthorized } from '../contracts/hostFunction.ts';
import { diagnosed, failedEvent } from '../events.ts';
import { HostError } from '../host/errors.ts';
import { recordingView, type Touched } from '../ledger/view.ts';
import { base64, bigintOf, sha256 } from '../xdr.ts';
import { type Applied, applied, failed, type OperationContext, type OperationOf } from './operation.ts';
import { nonRefundableFee, usedRefundableFee } from './resourceFees.ts';

/** Runs a contract; it may touch only the ledger entries that the transaction announced. */
export function invokeHostFunction(context: OperationContext, operation: OperationOf<'invokeHostFunction'>): Applied {
  const { sorobanData } = context;
  if (!sorobanData) return fail(xdr.InvokeHostFunctionResult.invokeHostFunctionMalformed());
  if (bigintOf(sorobanData.resourceFee()) < nonRefundableFee + usedRefundableFee) {
    return fail(xdr.InvokeHostFunctionResult.invokeHostFunctionInsufficientRefundableFee());
  }
  const { view } = recordingView(context.view, announcedOnly(sorobanData.resources().footprint()));
  const log: xdr.ContractEvent[] = [];
  try {
    const { value, events } = runAuthorized(
      { network: context.network, ledger: context.ledger, view, function: operation.func, diagnostics: log },
      operation.auth ?? [],
      context.source,
    );
    view.commit();
    const preimage = new xdr.InvokeHostFunctionSuccessPreImage({ returnValue: value, events: [...events] });
    const success = xdr.InvokeHostFunctionResult.invokeHostFunctionSuccess(sha256(preimage.toXDR()));
    const diagnostics = log.map((event) => diagnosed(event, true));
    return { ...applied(xdr.OperationResultTr.invokeHostFunction(success), events), value, diagnostics };
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    const diagnostics = [...log, failedEvent(error)].map((event) => diagnosed(event, false));
    return { ...trapped(), diagnostics };
  }
}

/** Refuses the use of entries that the transaction did not announce. */
function announcedOnly(footprint: xdr.LedgerFootprint): NonNullable<Touched['check']> {
  const writable = new Set(footprint.readWrite().map(base64));
  const readable = new Set([...writable, ...footprint.readOnly().map(base64)]);
  return (name, use) => {
    if ((use === 'read' ? readable : writable).has(name)) return;
    throw new HostError('Storage', 'ExceededLimit', 'an entry outside the footprint of the transaction was used');
  };
}

const trapped = () => fail(xdr.InvokeHostFunctionResult.invokeHostFunctionTrapped());
const fail = (result: xdr.InvokeHostFunctionResult) => failed(xdr.OperationResultTr.invokeHostFunction(result));
