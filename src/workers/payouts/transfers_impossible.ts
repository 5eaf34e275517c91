/** Gives up payouts that their receivers cannot take, once they could not for long enough. */

import type { Handle } from '../../../commands/handle.ts';
import { loadFrom, type TransferOwners } from '../../../commands/outgoing.ts';
import type { Clock } from '../../../commands/ports.ts';
import type { PayoutRail } from '../../../commands/transferPorts.ts';
import type { ChainId } from '../../../domain/chains.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { epochMs, hour_ms, type Instant, plus } from '../../../domain/time.ts';
import { boundedTimes } from '../../lib/boundedMap.ts';
import type { Worker } from '../engine.ts';
import { giveUpPayout, mayBeImpossible, receiverRefused } from './impossible.ts';

export interface ImpossibleDeps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  readonly owners: TransferOwners;
  readonly rails: ReadonlyMap<ChainId, Pick<PayoutRail, 'account' | 'minedNonce' | 'prepare'>>;
  /** How long a receiver must have been refused without a break. */
  readonly after_ms: number;
  /** Payments whose payout was refused by its token each time since then, or longer. */
  readonly refusedSince: (since: Instant, max: number) => Promise<readonly RefusedPayout[]>;
  readonly alarm: (payout: RefusedPayout, message: string) => void;
}

export interface RefusedPayout {
  readonly paymentId: string;
  readonly chainId: ChainId;
}

/** What is in the way of one that is not given up is looked at again so often. */
const again_ms = hour_ms;

export function impossibleWorker(deps: ImpossibleDeps): Worker<RefusedPayout> {
  const { clock, owners, rails, after_ms } = deps;
  const askAt = boundedTimes();
  return {
    name: 'impossiblePayouts',
    concurrency: 2,
    async due(max, now) {
      // Those that were asked about a while ago are in the list as well.
      const asked = askAt.countAfter(epochMs(now));
      const refused = await deps.refusedSince(plus(now, -after_ms), max + asked);
      return refused.filter(({ paymentId }) => (askAt.get(paymentId) ?? 0) <= epochMs(now)).slice(0, max);
    },
    keyOf: ({ paymentId }) => paymentId,
    async act(payout, signal) {
      const { paymentId, chainId } = payout;
      const rail = rails.get(chainId);
      const outgoing = await loadFrom(owners, { kind: 'payout', id: paymentId, part: 1 });
      if (!rail || !outgoing || !mayBeImpossible(outgoing)) return;
      const why = await receiverRefused(rail, outgoing, signal);
      askAt.set(paymentId, epochMs(clock.now()) + again_ms);
      if (why === undefined) return;
      const given = await giveUpPayout(deps, paymentId, why);
      if (isRefusal(given)) throw new Error(`${given.refused}: ${given.message}`);
      if (given.appended > 0) deps.alarm(payout, `its payout is given up, what came can go back: ${why}`);
    },
  };
}
