/**
 * A node's logs are behind its heads: github.com/ethereum-optimism/op-geth/issues/667 ("Missing events on eth_getLogs calls immediately
 * after newHeads", a node of Base), github.com/ethereum/go-ethereum/issues/26098 ("missing logs for latest block").
 */
import { type BeyondHead, headOf, logsUpTo } from '../heights/evm.ts';
import { onCalls, type Quirk } from '../quirk.ts';

export interface LogsBehindSettings {
  readonly blocks: number;
  /** Default: `empty`: the node does not know that it lacks them. */
  readonly beyond?: BeyondHead;
}

export const logsBehind: Quirk<LogsBehindSettings> = {
  families: ['evm'],
  says: '`eth_getLogs` behind the heads of the same node',
  begin: ({ blocks, beyond = 'empty' }, { chain }) =>
    onCalls(async (call, next) => {
      if (call.method !== 'eth_getLogs') return next(call.method, call.params);
      return logsUpTo(await headOf(chain, blocks), beyond, call, next);
    }),
};
