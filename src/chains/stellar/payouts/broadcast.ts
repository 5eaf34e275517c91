import { xdr } from '@stellar/stellar-sdk';
import { sendToAll } from '../../node/agreement.ts';
import { ask } from '../reads.ts';
import { RpcFailed, type StellarRpc } from '../rpc.ts';

/**
 * Refusals that time or the chain itself resolves; what they mean for the attempt is for its fate to say. The sequence is used up, or
 * one before it has not landed yet; the time bounds have passed; the offer is too low and will be outbid.
 */
const resolvedElsewhere: ReadonlySet<string> = new Set(['txBadSeq', 'txTooLate', 'txInsufficientFee']);

/**
 * PENDING and DUPLICATE: the node has it. TRY_AGAIN_LATER: it has another transaction of the account, or too many of all; nothing is
 * wrong with this one, which is sent again anyway while the chain does not show it.
 * @throws ChainUnavailable, BroadcastRefused as `sendToAll` does
 */
export function broadcastTo(rpc: StellarRpc, bytes: string): Promise<void> {
  const method = 'sendTransaction';
  return sendToAll(rpc, async (node) => {
    const answer = await ask(node, method, { transaction: bytes });
    if (answer['status'] !== 'ERROR') return;
    const code = codeOf(String(answer['errorResultXdr'] ?? ''));
    if (!resolvedElsewhere.has(code)) throw new RpcFailed(node.name, method, 'refused', code);
  });
}

/** The result's name; of a fee bump that of what it wraps. */
function codeOf(resultXdr: string): string {
  try {
    const result = xdr.TransactionResult.fromXDR(resultXdr, 'base64').result();
    const name = result.switch().name;
    return name === 'txFeeBumpInnerFailed' ? result.innerResultPair().result().result().switch().name : name;
  } catch {
    return 'refused without a reason';
  }
}
