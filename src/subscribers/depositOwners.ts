/** Keeps deposit addresses in stock for those who have no keys. */
import type { DepositOwner, DepositOwners } from '../postgres/depositOwners.ts';
import type { Worker } from './worker.ts';

export interface DepositOwnersDeps {
  readonly owners: DepositOwners;
  /** A new address, its key derived with a salt of its own. */
  readonly make: () => DepositOwner;
}

export const depositOwnersName = 'depositOwners';

const stockMax = 2_000;
/** Made between two turns of the event loop: some milliseconds' work. */
const batch = 100;

/** Crash anywhere: what was added is there, and the rest is made by the next. */
export function depositOwnersWorker({ owners, make }: DepositOwnersDeps): Worker<'stock'> {
  return {
    name: depositOwnersName,
    concurrency: 1,
    due: async () => ((await owners.count()) < stockMax / 2 ? ['stock'] : []),
    keyOf: (stock) => stock,
    async act(_, signal) {
      for (let held = await owners.count(); held < stockMax && !signal.aborted; held += batch) {
        await owners.add(Array.from({ length: Math.min(batch, stockMax - held) }, make));
      }
    },
  };
}
