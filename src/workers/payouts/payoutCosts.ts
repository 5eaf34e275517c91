/** Cost of payouts on each chain, in dollars: from its nodes' fees within the last seconds, and the coin's configured price. */

import type { PayoutCostOf } from '../../../commands/createPayment.ts';
import { type Clock, Unavailable } from '../../../commands/ports.ts';
import { PayoutBlocked, type PayoutRail } from '../../../commands/transferPorts.ts';
import type { ChainId } from '../../../domain/chains.ts';
import { coinInMicroUsd } from '../../../domain/payment/fees.ts';
import { epochMs } from '../../../domain/time.ts';
import type { CoinSettings } from '../../chains/money/coins.ts';
import { ChainUnavailable } from '../../chains/node/nodes.ts';

export interface PayoutCostsDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly rails: ReadonlyMap<ChainId, Pick<PayoutRail, 'transferCost' | 'receiverCost'>>;
  readonly coins: ReadonlyMap<ChainId, Pick<CoinSettings, 'decimals' | 'price_microUsd' | 'leastPayout_microUsd'>>;
}

/** Life of a price. */
const fresh_ms = 15_000;
/** Maximum age of a price while the nodes are queried for a new one: it allows for a rise. */
const stale_ms = 60_000;
const answer_ms = 5_000;
const retryAfter_s = 5;

interface Known {
  readonly coin: bigint;
  readonly at_ms: number;
}

/** Throws Unavailable for a chain that cannot be queried: a cost is never guessed. */
export function createPayoutCosts({ clock, rails, coins }: PayoutCostsDeps): PayoutCostOf {
  const known = new Map<ChainId, Known>();
  const asking = new Map<ChainId, Promise<bigint>>();

  /** One query for any number of waiters. */
  function transferCost(chainId: ChainId, rail: Pick<PayoutRail, 'transferCost'>): Promise<bigint> {
    const last = known.get(chainId);
    const age_ms = last ? epochMs(clock.now()) - last.at_ms : Number.POSITIVE_INFINITY;
    if (last && age_ms < fresh_ms) return Promise.resolve(last.coin);
    const asked = asking.get(chainId) ?? ask(chainId, rail).finally(() => asking.delete(chainId));
    asking.set(chainId, asked);
    asked.catch(() => {});
    return last && age_ms < stale_ms ? Promise.resolve(last.coin) : asked;
  }

  async function ask(chainId: ChainId, rail: Pick<PayoutRail, 'transferCost'>): Promise<bigint> {
    const coin = await rail.transferCost(AbortSignal.timeout(answer_ms));
    known.set(chainId, { coin, at_ms: epochMs(clock.now()) });
    return coin;
  }

  return async (chain, token, receiver) => {
    const rail = rails.get(chain.id);
    const coin = coins.get(chain.id);
    if (!rail || !coin) throw new Unavailable(`${chain.name} is not served`, retryAfter_s);
    try {
      const [usual, own] = await Promise.all([
        transferCost(chain.id, rail),
        rail.receiverCost?.({ token, receiver }, AbortSignal.timeout(answer_ms)),
      ]);
      return {
        cost_microUsd: coinInMicroUsd(usual + (own?.coin ?? 0n), coin),
        least_microUsd: coin.leastPayout_microUsd,
        ...(own?.opensAccount !== undefined && { opensAccount: own.opensAccount }),
      };
    } catch (error) {
      if (!(error instanceof ChainUnavailable || error instanceof PayoutBlocked || isTimeout(error))) throw error;
      throw new Unavailable(`what a payout on ${chain.name} costs is not known at present`, retryAfter_s, {
        cause: error,
      });
    }
  };
}

/** Returns true for the reason with which AbortSignal.timeout ends a read: the nodes were slower than a creator waits. */
const isTimeout = (error: unknown): boolean => error instanceof DOMException && error.name === 'TimeoutError';
