/** Stores of chain families: deposit addresses to assign, and those of open payments. */
import type { Clock } from '../../../commands/ports.ts';
import type { ChainId } from '../../../domain/chains.ts';
import { minute_ms, plus } from '../../../domain/time.ts';
import type { Sql } from '../../../projections/sql.ts';
import { knownDeposits, lateDeposits, openDeposits } from '../../../queries/payins.ts';
import type { FamilyNeeds, Watch, WatchedDeposit } from '../../chains/family.ts';
import { createDepositOwners, type DepositOwners, type StockedOwner } from '../../postgres/depositOwners.ts';
import type { WaitUntilCaughtUp } from '../../readmodels/projections.ts';
import type { Worker } from '../engine.ts';

export interface NeededStores {
  readonly clock: Pick<Clock, 'now'>;
  readonly database: Sql;
  readonly reads: Sql;
  readonly caughtUp: WaitUntilCaughtUp;
}

/** Time after a payment's end during which its deposit is watched for late money. */
const lateFor_ms = 7 * 24 * 60 * minute_ms;
const projectedWait_ms = 30_000;

/** @param stores called on first use: chains are opened before them */
export function depositNeeds(stores: () => NeededStores): Pick<FamilyNeeds, 'takeOwners' | 'watch'> {
  return {
    /**
     * After a restored backup the stock contains addresses that were assigned later. Their payments are in the log, and so in the rows:
     * they are skipped.
     */
    async takeOwners(max) {
      const { reads, caughtUp } = stores();
      await caughtUp();
      const taken = await createDepositOwners(reads).take(max);
      const known = await knownDeposits(
        reads,
        taken.map(({ address }) => address),
      );
      return taken.filter(({ address }) => !known.has(address));
    },
    watch: (chainId) => ({
      open: openPages(stores, chainId),
      async late(page, signal) {
        const { database, clock } = await upToDate(stores(), signal);
        return lateDeposits(database, chainId, { ...page, since: plus(clock.now(), -lateFor_ms) });
      },
    }),
  };
}

/** The first page, which is all of them if there are few, is queried again only if the log has grown. */
function openPages(stores: () => NeededStores, chainId: ChainId): Watch['open'] {
  let first:
    | { readonly end: bigint; readonly max: number; readonly page: Promise<readonly WatchedDeposit[]> }
    | undefined;
  return async (asked, signal) => {
    const { database, caughtUp } = stores();
    const end = await caughtUp({ signal, timeout_ms: projectedWait_ms });
    const isFirst = asked.after === null;
    if (isFirst && first?.end === end && first.max === asked.max) return first.page;
    const page = openDeposits(database, chainId, asked);
    if (isFirst) first = { end, max: asked.max, page };
    page.catch(() => {
      first = undefined;
    });
    return page;
  };
}

/** Afterwards the rows contain everything created before this moment. */
async function upToDate(stores: NeededStores, signal: AbortSignal): Promise<NeededStores> {
  await stores.caughtUp({ signal, timeout_ms: projectedWait_ms });
  return stores;
}

// Keeps deposit addresses in stock for instances without keys.

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
