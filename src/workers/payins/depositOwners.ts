/** Keeps deposit addresses in stock for instances without keys. */
import type { Clock } from '../../../commands/ports.ts';
import type { DepositOwners, StockedOwner } from '../../postgres/depositOwners.ts';
import type { Worker } from '../engine.ts';

export interface DepositOwnersDeps {
  readonly owners: DepositOwners;
  readonly clock: Pick<Clock, 'sleep'>;
  /** New addresses, each with a key derived from a new salt. */
  readonly make: (count: number) => Promise<readonly StockedOwner[]>;
}

export const depositOwnersName = 'depositOwners';

const stockMax = 1_000;
/** Batch size: some milliseconds of work, then a pause, so the rest of the process is not delayed. */
const batch = 10;
const pause_ms = 10;

/** Crash anywhere: added addresses remain, and the next run makes the rest. */
export function depositOwnersWorker({ owners, clock, make }: DepositOwnersDeps): Worker<'stock'> {
  return {
    name: depositOwnersName,
    concurrency: 1,
    due: async () => ((await owners.count()) < stockMax / 2 ? ['stock'] : []),
    keyOf: (stock) => stock,
    async act(_, signal) {
      for (let held = await owners.count(); held < stockMax && !signal.aborted; held += batch) {
        await owners.add(await make(Math.min(batch, stockMax - held)));
        await clock.sleep(pause_ms, signal);
      }
    },
  };
}
