/** The heads of a chain as the service watches them while a payment is always waiting. */
import { NEVER } from 'rxjs';
import type { Ingester } from '../../src/chains/ports.ts';
import { systemClock } from '../../src/process/system.ts';
import { type HeadWatch, type HeadWatchDeps, watchHeads } from '../../src/workers/payins/headWatch.ts';

export const watchedHeads = (
  { nodeHeads }: Pick<Ingester, 'nodeHeads'>,
  { pollInterval_ms }: { readonly pollInterval_ms: number },
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
