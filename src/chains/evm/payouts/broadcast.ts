import type { Hex } from 'viem';
import { sendToAll } from '../../node/agreement.ts';
import { type EvmRpc, RpcFailed } from '../rpc.ts';

/**
 * What nodes say of bytes that they hold, have mined, or that another transaction of the nonce has outbid. The words differ by client:
 * geth and its forks "already known", "nonce too low", "replacement transaction underpriced"; Nethermind "AlreadyKnown", "OldNonce";
 * Erigon "existing tx"; anvil "transaction already imported".
 */
const settledElsewhere =
  /already (known|imported|exists|in)|alreadyknown|known transaction|existing tx|nonce (is )?too low|oldnonce|replacement.*(underpriced|not ?allowed)/i;

/** @throws ChainUnavailable, BroadcastRefused as `sendToAll` does */
export function broadcastTo(rpc: EvmRpc, bytes: Hex): Promise<void> {
  return sendToAll(rpc, async (node) => {
    try {
      await node.request('eth_sendRawTransaction', [bytes]);
    } catch (error) {
      const has = error instanceof RpcFailed && error.kind === 'refused' && settledElsewhere.test(error.detail);
      if (!has) throw error;
    }
  });
}
