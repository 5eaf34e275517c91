/** Keeps deposit addresses in stock for those who have no keys. */
import type { Clock } from '../../../commands/ports.ts';
import type { DepositOwner, DepositOwners } from '../../postgres/depositOwners.ts';
import type { Worker } from '../engine.ts';

export interface DepositOwnersDeps {
  readonly owners: DepositOwners;
  readonly clock: Pick<Clock, 'sleep'>;
  /** So many new addresses, the key of each derived with a salt of its own. */
  readonly make: (count: number) => Promise<readonly DepositOwner[]>;
}

export const depositOwnersName = 'depositOwners';

const stockMax = 1_000;
/** Made at a time, some milliseconds' work, and then a pause: whoever shares the process does not notice. */
const batch = 10;
const pause_ms = 10;

/** Crash anywhere: what was added is there, and the rest is made by the next. */
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
