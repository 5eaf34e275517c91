/**
 * Maximum blocks of `eth_getLogs`: 10 on Alchemy's free tier, 5 on QuickNode's trial, 1,000 on Ankr, 10,000 elsewhere, each with its own
 * text and code (docs.alchemy.com/reference/eth-getlogs; quicknode.com/docs, −32614; bnbchain "exceed maximum block range").
 */
import { RpcError } from '../../rpcError.ts';
import { fieldsOf, listOf, quantityOf } from '../call.ts';
import { onCalls, type Quirk } from '../quirk.ts';

export interface RangeLimitSettings {
  readonly blocks: number;
  readonly code?: number;
  /** `{n}` is replaced with the number of blocks. */
  readonly message?: string;
}

const alchemy = 'Under the Free tier plan, you can make eth_getLogs requests with up to a {n} block range.';

export const rangeLimit: Quirk<RangeLimitSettings> = {
  families: ['evm'],
  says: 'a maximum number of blocks per `eth_getLogs`',
  begin: ({ blocks, code = -32600, message = alchemy }) =>
    onCalls(async ({ method, params }, next) => {
      const { fromBlock, toBlock } = fieldsOf(listOf(params)[0]);
      const [from, to] = [quantityOf(fromBlock), quantityOf(toBlock)];
      const span = from === undefined || to === undefined ? 0n : to - from + 1n;
      if (method !== 'eth_getLogs' || span <= blocks) return next(method, params);
      throw new RpcError(code, message.replace('{n}', String(blocks)));
    }),
};
