import { xdr } from '@stellar/stellar-sdk';
import { runAuthorized } from '../contracts/hostFunction.ts';
import { HostError } from '../host/errors.ts';
import { recordingView, type Touched } from '../ledger/view.ts';
import { base64, bigintOf, sha256 } from '../xdr.ts';
import { type Applied, applied, failed, type OperationContext, type OperationOf } from './operation.ts';

/** What every host function costs here, in stroops: nothing is metered. */
export const resourceFee = 60_000n;

/** Runs a contract; it may touch only the ledger entries that the transaction announced. */
export function invokeHostFunction(context: OperationContext, operation: OperationOf<'invokeHostFunction'>): Applied {
  const { sorobanData } = context;
  if (!sorobanData) return fail(xdr.InvokeHostFunctionResult.invokeHostFunctionMalformed());
  if (bigintOf(sorobanData.resourceFee()) < resourceFee) {
    return fail(xdr.InvokeHostFunctionResult.invokeHostFunctionInsufficientRefundableFee());
  }
  const { view, touched } = recordingView(context.view);
  try {
    const { value, events } = runAuthorized(
      { network: context.network, ledger: context.ledger, view, function: operation.func },
      operation.auth ?? [],
      context.source,
    );
    if (!isAnnounced(touched, sorobanData.resources().footprint())) {
      throw new HostError('Storage', 'ExceededLimit', 'an entry outside the footprint of the transaction was used');
    }
    view.commit();
    const preimage = new xdr.InvokeHostFunctionSuccessPreImage({ returnValue: value, events: [...events] });
    const success = xdr.InvokeHostFunctionResult.invokeHostFunctionSuccess(sha256(preimage.toXDR()));
    return { ...applied(xdr.OperationResultTr.invokeHostFunction(success), events), value };
  } catch (error) {
    if (error instanceof HostError) return { ...trapped(), error };
    throw error;
  }
}

function isAnnounced({ reads, writes }: Touched, footprint: xdr.LedgerFootprint): boolean {
  const writable = new Set(footprint.readWrite().map(base64));
  const readable = new Set([...writable, ...footprint.readOnly().map(base64)]);
  return [...reads.keys()].every((key) => readable.has(key)) && [...writes.keys()].every((key) => writable.has(key));
}

const trapped = () => fail(xdr.InvokeHostFunctionResult.invokeHostFunctionTrapped());
const fail = (result: xdr.InvokeHostFunctionResult) => failed(xdr.OperationResultTr.invokeHostFunction(result));
