/**
 * One address, several back ends, each at its own height: each request reaches another one. So are the endpoints of Infura and Alchemy and
 * public ones: github.com/ethereum/go-ethereum/issues/27353 ("Identify stale nodes when behind load balancer"), 24078 (logs of a range
 * beyond a back end's head are silently empty). Solana's nodes then answer "Minimum context slot has not been reached" (−32016).
 */
import type { BeyondHead } from '../heights/evm.ts';
import { everywhere, type Quirk } from '../quirk.ts';
import { behindOf } from './lag.ts';

export interface BalancerSettings {
  /** Lag of each back end, in blocks, slots or ledgers. */
  readonly lags: readonly number[];
  /** For EVM nodes. Default: `refused`. */
  readonly beyond?: BeyondHead;
}

export const balancer: Quirk<BalancerSettings> = {
  families: everywhere,
  says: 'several back ends at different heights behind one address',
  begin({ lags, beyond = 'refused' }, node) {
    const behind = behindOf(node, beyond);
    // The calls of a batch reach one back end.
    return () => ({ call: behind(lags[Math.floor(node.random() * lags.length)] ?? 0) });
  },
};
