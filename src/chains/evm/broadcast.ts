import type { Hex } from 'viem';
import { ChainUnavailable, type EvmRpc, RpcFailed } from './rpc.ts';

/**
 * What nodes say of bytes that they hold, have mined, or that another transaction of the nonce has outbid. The words differ by client:
 * geth and its forks "already known", "nonce too low", "replacement transaction underpriced"; Nethermind "AlreadyKnown", "OldNonce";
 * Erigon "existing tx"; anvil "transaction already imported".
 */
const settledElsewhere =
  /already (known|imported|exists|in)|alreadyknown|known transaction|existing tx|nonce (is )?too low|oldnonce|replacement.*(underpriced|not ?allowed)/i;

/** Every node refuses the bytes and says why. */
export class BroadcastRefused extends Error {
  override readonly name = 'BroadcastRefused';
}

/**
 * Sends bytes to every node at once; one that takes them, or has them, is enough. Each call has its own time limit.
 * @throws ChainUnavailable when no node answers, BroadcastRefused when those that answer refuse; sending again later is safe
 */
export async function broadcastTo(rpc: EvmRpc, bytes: Hex): Promise<void> {
  const { signal } = new AbortController();
  const outcomes = await Promise.all(
    rpc.nodes.map(async (node) => {
      try {
        await node.request('eth_sendRawTransaction', [bytes], signal);
        return 'taken';
      } catch (error) {
        if (!(error instanceof RpcFailed)) throw error;
        return error.kind === 'refused' && settledElsewhere.test(error.detail) ? 'taken' : error;
      }
    }),
  );
  if (outcomes.includes('taken')) return;
  const failures = outcomes.filter((outcome) => outcome instanceof RpcFailed);
  const refusals = failures.filter(({ kind }) => kind === 'refused');
  if (refusals.length === 0) throw new ChainUnavailable(rpc.chainId, failures);
  throw new BroadcastRefused(
    `chain ${rpc.chainId} refuses the transaction: ${refusals.map(({ message }) => message).join('; ')}`,
  );
}
