import { inTurn } from '../../commands/inTurn.ts';
import type { Clock } from '../../commands/ports.ts';
import { numberingMemory } from '../../commands/transfers/numberingAccounts.ts';
import { createUnderway } from '../../src/subscribers/transfers/underway.ts';

/** What the workers of one treasury share in a process that has just begun. */
export function sharedBySigners(clock: Pick<Clock, 'now'>) {
  const turn = inTurn();
  const oneByOne = <T>(work: () => Promise<T>) => turn('treasury', work);
  return {
    memory: numberingMemory(),
    inTurn: oneByOne,
    underway: createUnderway(async () => 0n, clock),
    look_ms: 1_000,
  };
}
