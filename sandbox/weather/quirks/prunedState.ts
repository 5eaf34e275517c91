/** A full node keeps the states of its newest 128 blocks: "missing trie node" beyond (go-ethereum, gcmode full; only archive nodes know more). */
import { RpcError } from '../../rpcError.ts';
import { listOf, quantityOf } from '../call.ts';
import { headOf } from '../heights/evm.ts';
import { onCalls, type Quirk } from '../quirk.ts';

export interface PrunedStateSettings {
  /** Default: 128. */
  readonly blocks?: number;
}

const ofState = ['eth_call', 'eth_getBalance', 'eth_getTransactionCount', 'eth_getCode'];

export const prunedState: Quirk<PrunedStateSettings> = {
  families: ['evm'],
  says: 'only the states of the newest blocks',
  begin: ({ blocks = 128 }, { chain }) =>
    onCalls(async ({ method, params }, next) => {
      const at = ofState.includes(method) ? quantityOf(listOf(params)[1]) : undefined;
      if (at !== undefined && at < (await headOf(chain, blocks))) throw new RpcError(-32000, 'missing trie node');
      return next(method, params);
    }),
};
