/** Scheduled sweeps: periodically reads each chain's deposits, and orders worthwhile ones to the treasury. */

import { type SweepDeps, type SweepLimits, type SweepNews, sweepAll } from '../../../commands/sweeps/sweep.ts';
import { PayoutBlocked } from '../../../commands/transferPorts.ts';
import type { ChainId } from '../../../domain/chains.ts';
import { epochMs, instant } from '../../../domain/time.ts';
import { boundedTimes } from '../../lib/cache.ts';
import type { Worker } from '../engine.ts';

export interface SweptChain {
  readonly deps: SweepDeps;
  readonly limits: SweepLimits;
}

/** Result of one read of a chain's deposits. */
export interface SweepSummary {
  readonly deposits: number;
  readonly ordered: number;
  readonly done: number;
  readonly calledOff: number;
}

export interface SweepsDeps {
  readonly chains: ReadonlyMap<ChainId, SweptChain>;
  readonly every_ms: number;
  readonly tell: (chainId: ChainId, summary: SweepSummary) => void;
  /** Nothing can be swept on a chain now: gas is too dear, or its forwarder is not deployed. */
  readonly waits: (chainId: ChainId, why: string) => void;
}

export function sweepsWorker({ chains, every_ms, tell, waits }: SweepsDeps): Worker<ChainId> {
  const nextAt = boundedTimes();
  return {
    name: 'sweeps',
    concurrency: chains.size,
    async due(max, now) {
      const isDue = (chainId: ChainId) => (nextAt.get(String(chainId)) ?? 0) <= epochMs(now);
      return [...chains.keys()].filter(isDue).slice(0, max);
    },
    nextDue(now) {
      const next_ms = nextAt.nextAfter(epochMs(now));
      return Number.isFinite(next_ms) ? instant(next_ms) : null;
    },
    keyOf: String,
    async act(chainId, signal) {
      const chain = chains.get(chainId);
      if (!chain) return;
      try {
        const summary = await drain(sweepAll(chain.deps, chain.limits, signal));
        if (summary.ordered > 0) tell(chainId, summary);
      } catch (error) {
        if (!(error instanceof PayoutBlocked)) throw error;
        waits(chainId, error.message);
      }
      // After a failure it is still due: the worker retries it with growing pauses.
      nextAt.set(String(chainId), epochMs(chain.deps.clock.now()) + every_ms);
    },
  };
}

async function drain(news: AsyncIterable<SweepNews>): Promise<SweepSummary> {
  const summary = { deposits: 0, ordered: 0, done: 0, calledOff: 0 };
  for await (const each of news) {
    if (each.kind === 'looked') summary.deposits = each.deposits;
    else if (each.kind === 'ordered') summary.ordered += 1;
    else if (each.kind === 'ended') summary[each.operation.calledOff ? 'calledOff' : 'done'] += 1;
  }
  return summary;
}
