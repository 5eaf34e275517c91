import type { Clock } from '../../commands/ports.ts';
import { serializeByKey } from '../../src/lib/serialize.ts';
import { numberingMemory } from '../../src/workers/payouts/numberingAccounts.ts';
import { createUnsettledAmounts } from '../../src/workers/payouts/unsettledAmounts.ts';

/** What the workers of one treasury share in a process that has just begun. */
export function sharedBySigners(clock: Pick<Clock, 'now'>) {
  const turn = serializeByKey();
  const oneByOne = <T>(work: () => Promise<T>) => turn('treasury', work);
  return {
    memory: numberingMemory(),
    inTurn: oneByOne,
    unsettledAmounts: createUnsettledAmounts(async () => 0n, clock),
    look_ms: 1_000,
  };
}
