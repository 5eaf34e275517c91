/**
 * A syncing node that answers anyway: EVM with an empty chain's state (head 0: github.com/ethereum/go-ethereum/issues/23579, also with
 * eth_syncing false: 26749; `0x` for a call, nonce 0), Solana with −32005 "Node is unhealthy" (solana.com/docs/rpc/http/gethealth), Stellar
 * with −32603 "data stores are not initialized" (stellar-rpc).
 */
import { RpcError } from '../../rpcError.ts';
import { listOf } from '../call.ts';
import { everywhere, onCalls, type Quirk } from '../quirk.ts';

export const syncing: Quirk<object> = {
  families: everywhere,
  says: 'an unfinished sync: nonce 0, `0x`',
  begin: (_, { family }) =>
    onCalls(async ({ method, params }, next) => {
      if (family === 'solana') throw new RpcError(-32005, 'Node is unhealthy', { numSlotsBehind: 1_042 });
      if (family === 'stellar' && method !== 'getNetwork' && method !== 'getVersionInfo') {
        throw new RpcError(-32603, 'data stores are not initialized: DB is empty');
      }
      switch (method) {
        case 'eth_call':
          return '0x';
        case 'eth_blockNumber':
        case 'eth_getBalance':
        case 'eth_getTransactionCount':
          return '0x0';
        case 'eth_getLogs':
          return [];
        case 'eth_getTransactionReceipt':
        case 'eth_getTransactionByHash':
          return null;
        case 'eth_getBlockByNumber':
          return next(method, ['0x0', listOf(params)[1] ?? false]);
        default:
          return next(method, params);
      }
    }),
};
