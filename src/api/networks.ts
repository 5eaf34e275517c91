/** Facts that payers read about a chain before they choose it: the usual time until a payment is final, and the cost of sending it. */
import type { Ingester } from '../../commands/chainPorts.ts';
import type { Clock } from '../../commands/ports.ts';
import type { PayoutRail } from '../../commands/transferPorts.ts';
import { type ChainId, chainOf } from '../../domain/chains.ts';
import { coinInMicroUsd } from '../../domain/payment/fees.ts';
import { epochMs } from '../../domain/time.ts';

/** Usual time and cost on a chain. */
export interface NetworkFacts {
  /** Time from a payer's transaction until it counts as final here. */
  readonly final_ms: number;
  /** Cost of a token transfer for its sender; null while it is unknown. */
  readonly cost_microUsd: bigint | null;
}

/** @param amount in whole tokens; null for any */
export type NetworkOf = (chainId: ChainId, amount: string | null) => NetworkFacts;

/** A payer chooses by the order of magnitude: a cost of this age is still shown, and is computed again at the next view. */
const fresh_ms = 5 * 60_000;
/** Older costs are not shown. */
const stale_ms = 60 * 60_000;
const answer_ms = 5_000;

interface Coin {
  readonly price_microUsd: bigint;
  readonly decimals: number;
}

interface Known {
  readonly cost_microUsd: bigint;
  readonly at_ms: number;
}

export interface NetworkCostsDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly rails: ReadonlyMap<ChainId, Pick<PayoutRail, 'transferCost'>>;
  readonly coins: ReadonlyMap<ChainId, Coin>;
}

/**
 * Returns what a transfer costs its sender by the last estimate, at once. Nobody waits for a node: each chain is queried at most once in five
 * minutes, however many pages are viewed.
 */
export function createNetworkCosts({ clock, rails, coins }: NetworkCostsDeps): (chainId: ChainId) => bigint | null {
  const known = new Map<ChainId, Known>();
  const queriedAt_ms = new Map<ChainId, number>();

  async function query(chainId: ChainId, rail: Pick<PayoutRail, 'transferCost'>, coin: Coin): Promise<void> {
    const units = await rail.transferCost(AbortSignal.timeout(answer_ms));
    known.set(chainId, { cost_microUsd: coinInMicroUsd(units, coin), at_ms: epochMs(clock.now()) });
  }

  return (chainId) => {
    const now_ms = epochMs(clock.now());
    const [rail, coin] = [rails.get(chainId), coins.get(chainId)];
    if (rail && coin && now_ms - (queriedAt_ms.get(chainId) ?? Number.NEGATIVE_INFINITY) >= fresh_ms) {
      queriedAt_ms.set(chainId, now_ms);
      // A failed estimate counts as none: the page states no cost, and the next estimate runs in five minutes.
      query(chainId, rail, coin).catch(() => {});
    }
    const last = known.get(chainId);
    return last && now_ms - last.at_ms < stale_ms ? last.cost_microUsd : null;
  };
}

interface Watching {
  readonly ingester: Pick<Ingester, 'largeFrom' | 'blocksOnTop' | 'leastAge_ms'>;
}

/** Usual time from a payer's transaction to the moment when it counts as final here, for an amount in whole tokens. */
export function usualFinality(chains: ReadonlyMap<ChainId, Watching>) {
  return (chainId: ChainId, amount: string | null): number => {
    const { block_ms, finalized_ms } = chainOf(chainId);
    const ingester = chains.get(chainId)?.ingester;
    const whole = BigInt(amount?.split('.')[0] ?? 0);
    const pass = ingester?.largeFrom != null && whole >= ingester.largeFrom ? 'finalLarge' : 'final';
    const blocks = ingester?.blocksOnTop?.(pass) ?? null;
    const deep_ms = blocks === null ? finalized_ms : blocks * block_ms;
    return block_ms + Math.max(deep_ms, ingester?.leastAge_ms?.(pass) ?? 0);
  };
}
