/**
 * The newest slot's block is not available yet: −32004 "Block not available for slot" (agave rpc-client-api, custom_error.rs,
 * BlockNotAvailable), if the slot is reported before the block is stored.
 */
import { RpcError } from '../../rpcError.ts';
import { listOf, optionsOf } from '../call.ts';
import { onCalls, type Quirk } from '../quirk.ts';

export interface NewestBlockMissingSettings {
  /** Number of the newest slots. */
  readonly slots: number;
}

export const newestBlockMissing: Quirk<NewestBlockMissingSettings> = {
  families: ['solana'],
  says: 'no access to the newest blocks',
  begin: ({ slots }) =>
    onCalls(async (call, next) => {
      const { method, params } = call;
      if (method === 'getBlock') {
        const slot = Number(listOf(params)[0]);
        const head = Number(await next('getSlot', [{ commitment: optionsOf(call)['commitment'] ?? 'finalized' }]));
        if (slot > head - slots) throw new RpcError(-32004, `Block not available for slot ${slot}`);
      }
      return next(method, params);
    }),
};
