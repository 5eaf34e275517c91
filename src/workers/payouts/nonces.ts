/** Looks after nonces that were handed out on one chain: none may stay outstanding, for all later ones wait for it. */

import { PayoutBlocked } from '../../../commands/transferPorts.ts';
import type { ChainId } from '../../../domain/chains.ts';
import { epochMs } from '../../../domain/time.ts';
import { boundedTimes } from '../../lib/boundedMap.ts';
import type { Worker } from '../engine.ts';
import { type TendDeps, type Trouble, tendNonces } from './cancels.ts';
import { stuckAfter_ms } from './fate.ts';

export interface NoncesDeps extends Omit<TendDeps, 'failed'> {
  readonly alarm: (reason: string, facts: Readonly<Record<string, unknown>>, message: string) => void;
}

const round_ms = 5_000;

export const noncesWorkerName = (chainId: ChainId): string => `nonces:${chainId}`;

export function noncesWorker(deps: NoncesDeps): Worker<ChainId> {
  const { rail, clock, alarm } = deps;
  const { chainId } = rail;
  const alarmedAt = boundedTimes();
  let next_ms = 0;

  return {
    name: noncesWorkerName(chainId),
    concurrency: 1,
    async due(_, now) {
      if (epochMs(now) < next_ms) return [];
      next_ms = epochMs(now) + round_ms;
      return [chainId];
    },
    keyOf: String,
    async act(_, signal) {
      const failures: unknown[] = [];
      const note = (nonce: Pick<Trouble, 'account' | 'nonce'>, error: unknown) => {
        if (error instanceof PayoutBlocked) tell({ ...nonce, reason: error.reason, message: error.message });
        else failures.push(error);
      };
      const trouble = await tendNonces({ ...deps, failed: note }, signal);
      trouble.forEach(tell);
      const [failure] = failures;
      if (failure !== undefined) throw failure;
    },
  };

  /** Said again as often as it takes to be stuck. */
  function tell({ account, nonce, reason, message }: Omit<Trouble, 'reason'> & { readonly reason: string }): void {
    const key = `${reason} ${account} ${nonce}`;
    const now_ms = epochMs(clock.now());
    if (now_ms - (alarmedAt.get(key) ?? Number.NEGATIVE_INFINITY) < stuckAfter_ms) return;
    alarmedAt.set(key, now_ms);
    alarm(reason, { chainId, account, nonce: nonce.toString() }, message);
  }
}
