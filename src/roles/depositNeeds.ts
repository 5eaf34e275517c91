/** What chain families need of the stores: deposit addresses to give out, and which of them are waited for. */
import type { Clock, EventStore } from '../../commands/ports.ts';
import { minute_ms, plus } from '../../domain/time.ts';
import type { Sql } from '../../projections/sql.ts';
import { knownDeposits, lateDeposits, openDeposits } from '../../queries/payins.ts';
import type { FamilyNeeds } from '../chains/family.ts';
import { createDepositOwners } from '../postgres/depositOwners.ts';
import type { WaitUntilProjected } from '../runtime/projected.ts';

export interface NeededStores {
  readonly clock: Pick<Clock, 'now'>;
  readonly store: Pick<EventStore, 'tail'>;
  readonly database: Sql;
  readonly reads: Sql;
  readonly projected: WaitUntilProjected;
}

/** After a payment's time has ended, its deposit is watched for late money for so long. */
const lateFor_ms = 7 * 24 * 60 * minute_ms;
const projectedWait_ms = 30_000;

/** @param stores asked for when they are needed: chains are opened before them */
export function depositNeeds(stores: () => NeededStores): FamilyNeeds {
  return {
    /**
     * A restored backup has addresses in stock that were given out since. Their payments are in the log, and so in the rows by now:
     * they are left out.
     */
    async takeOwners(max) {
      const { store, reads, projected } = stores();
      await projected(await store.tail());
      const taken = await createDepositOwners(reads).take(max);
      const known = await knownDeposits(
        reads,
        taken.map(({ address }) => address),
      );
      return taken.filter(({ address }) => !known.has(address));
    },
    watch: (chainId) => ({
      open: rememberedAt(stores, ({ database }) => openDeposits(database, chainId)),
      async late(signal) {
        const { database, clock } = await upToDate(stores(), signal);
        return lateDeposits(database, chainId, plus(clock.now(), -lateFor_ms));
      },
    }),
  };
}

/** Asks again only when the log has grown: what depends on nothing else is the same until then. */
function rememberedAt<T>(stores: () => NeededStores, ask: (stores: NeededStores) => Promise<T>) {
  let last: { readonly end: bigint; readonly answer: T } | undefined;
  return async (signal: AbortSignal): Promise<T> => {
    const { store, projected } = stores();
    const end = await store.tail();
    if (last?.end === end) return last.answer;
    await projected(end, { signal, timeout_ms: projectedWait_ms });
    const answer = await ask(stores());
    last = { end, answer };
    return answer;
  };
}

/** Whatever was created before this moment is in the rows afterwards. */
async function upToDate(stores: NeededStores, signal: AbortSignal): Promise<NeededStores> {
  await stores.projected(await stores.store.tail(), { signal, timeout_ms: projectedWait_ms });
  return stores;
}
