/** Stores of chain families: deposit addresses to assign, and those of open payments. */
import type { Clock } from '../../../commands/ports.ts';
import type { ChainId } from '../../../domain/chains.ts';
import { minute_ms, plus } from '../../../domain/time.ts';
import type { Sql } from '../../../projections/sql.ts';
import { knownDeposits, lateDeposits, openDeposits } from '../../../queries/payins.ts';
import type { FamilyNeeds, Watch, WatchedDeposit } from '../../chains/family.ts';
import { createDepositOwners } from '../../postgres/depositOwners.ts';
import type { WaitUntilCaughtUp } from '../../readmodels/projections.ts';

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
