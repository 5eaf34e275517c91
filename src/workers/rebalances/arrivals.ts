/**
 * Checks recently recorded arrivals again that the treasury did not send: mints of CCTP by others, and deliveries of USDT0. A block may leave
 * its chain in spite of its depth. Mints of our own are checked with all transfers (`payouts/audit.ts`).
 *
 * Crash before the append: the next check reads the chain again. After it, the rebalance is in transit again: its worker looks for the
 * arrival, and of CCTP signs a mint.
 */
import { currentState, type Handle } from '../../../commands/handle.ts';
import type { Clock } from '../../../commands/ports.ts';
import type { PayoutRail } from '../../../commands/transferPorts.ts';
import type { ChainId } from '../../../domain/chains.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { orphanMintByOther, rebalance } from '../../../domain/rebalance/rebalance.ts';
import type { Instant } from '../../../domain/time.ts';
import type { Worker } from '../engine.ts';
import { recheckLately } from '../payouts/audit.ts';

export interface ArrivalsDeps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  readonly railOn: (chainId: ChainId) => Pick<PayoutRail, 'stillFinal'> | undefined;
  /** Ids of rebalances whose arrival was recorded after `since`, oldest first. @throws Unavailable */
  readonly arrivedSince: (since: Instant, max: number) => Promise<readonly string[]>;
  readonly alarm: (orphaned: { readonly id: string; readonly chainId: ChainId; readonly hash: string }) => void;
}

const facts = { cause: 'worker:rebalances', appId: null } as const;

export function arrivalsWorker({ handle, clock, railOn, arrivedSince, alarm }: ArrivalsDeps): Worker<string> {
  return {
    name: 'rebalanceArrivals',
    concurrency: 2,
    due: recheckLately(arrivedSince, (id) => id),
    keyOf: (id) => id,
    async act(id, signal) {
      const state = await currentState(handle, rebalance, id);
      if (!state?.minted?.byOther) return;
      const { chainId } = state.ordered.to;
      const { hash, blockHash, blockNumber } = state.minted;
      const rail = railOn(chainId);
      if (!rail || (await rail.stillFinal({ hash, blockHash, blockNumber: BigInt(blockNumber) }, signal))) return;
      const seen = { hash, blockHash, now: clock.now() };
      const outcome = await handle(rebalance, id, (current) => orphanMintByOther(current, seen), facts);
      if (!isRefusal(outcome) && outcome.appended > 0) alarm({ id, chainId, hash });
    },
  };
}
