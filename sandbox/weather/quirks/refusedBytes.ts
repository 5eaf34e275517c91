/**
 * Signed bytes that a node refuses: "Transaction rejected by chain policy" (Nitro 3.11.3), "txpool is full" (reth, geth), try_again_later
 * (stellar-core's queue). Refused bytes may be accepted later.
 */
import { RpcError } from '../../rpcError.ts';
import { onCalls, type Quirk } from '../quirk.ts';

export interface RefusedBytesSettings {
  readonly code?: number;
  readonly message?: string;
}

export const refusedBytes: Quirk<RefusedBytesSettings> = {
  families: ['evm', 'solana'],
  says: 'a refusal of every signed transaction',
  begin: ({ code = -32000, message = 'Transaction rejected by chain policy' }) =>
    onCalls(async ({ method, params }, next) => {
      if (method === 'eth_sendRawTransaction' || method === 'sendTransaction') throw new RpcError(code, message);
      return next(method, params);
    }),
};
