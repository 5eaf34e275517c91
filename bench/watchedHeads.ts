/** The heads of a chain as the service watches them while a payment always waits. */
import { NEVER } from 'rxjs';
import type { EvmChainConfig } from '../src/chains/evm/config.ts';
import type { EvmIngester } from '../src/chains/evm/payins/ingester.ts';
import { systemClock } from '../src/runtime/system.ts';
import { type HeadWatch, type HeadWatchDeps, watchHeads } from '../src/subscribers/headWatch.ts';

export const watchedHeads = (
  { nodeHeads }: Pick<EvmIngester, 'nodeHeads'>,
  { pollInterval_ms }: Pick<EvmChainConfig, 'pollInterval_ms'>,
  pushed?: HeadWatchDeps['pushed'],
): HeadWatch =>
  watchHeads({
    nodeHeads,
    clock: systemClock,
    poll_ms: pollInterval_ms,
    isAwaited: async () => true,
    changes: () => 0,
    changed: NEVER,
    pushed,
  });
