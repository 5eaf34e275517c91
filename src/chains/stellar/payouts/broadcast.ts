import { xdr } from '@stellar/stellar-sdk';
import { sendToAll } from '../../node/agreement.ts';
import { ask, object } from '../../node/jsonRpc.ts';
import { RpcFailed, type StellarRpc } from '../rpc.ts';

/**
 * Refusals that are no error of the attempt; its fate says what became of it. The sequence number is used up, or an earlier one has not
 * landed yet; the time bound has passed; the offer is too low and will be raised.
 */
const resolvedElsewhere: ReadonlySet<string> = new Set(['txBadSeq', 'txTooLate', 'txInsufficientFee']);

/**
 * PENDING and DUPLICATE: the node has the transaction. TRY_AGAIN_LATER: the node has another transaction of the account, or too many in
 * all; this one is sent again anyway until the chain shows it.
 * @throws ChainUnavailable, BroadcastRefused as `sendToAll` does
 */
export function broadcastTo(rpc: StellarRpc, bytes: string): Promise<void> {
  const method = 'sendTransaction';
  return sendToAll(rpc, async (node) => {
    const { status, errorResultXdr } = await ask(node, method, { transaction: bytes }, object);
    if (status !== 'ERROR') return;
    const code = codeOf(String(errorResultXdr ?? ''));
    if (!resolvedElsewhere.has(code)) throw new RpcFailed(node.name, method, 'refused', code);
  });
}

/** The result's name; for a fee bump, the result of the transaction that it wraps. */
function codeOf(resultXdr: string): string {
  try {
    const result = xdr.TransactionResult.fromXDR(resultXdr, 'base64').result();
    const name = result.switch().name;
    return name === 'txFeeBumpInnerFailed' ? result.innerResultPair().result().result().switch().name : name;
  } catch {
    return 'refused without a reason';
  }
}
