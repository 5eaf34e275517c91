/** The books' account "in transit": money that left one account of the treasury by a burn and is not minted at another one yet. */
import type { ChainId } from '../chains.ts';
import { type Instant, plus } from '../time.ts';
import { isCctpChain, travelTime_ms } from './cctp.ts';
import { isCctp, type RebalanceOrdered } from './events.ts';
import { inDestinationUnits, inSourceUnits, type Rebalance } from './rebalance.ts';
import { isUsdt0Chain, messageTime_ms } from './usdt0.ts';

/** In smallest units of the source's token. `burned` is always `minted + fee + inTransit`. */
export interface Transit {
  readonly burned: bigint;
  readonly minted: bigint;
  readonly fee: bigint;
  /** Amount that has not arrived yet. After a mint it is 0, except if less arrived than the message promised. */
  readonly inTransit: bigint;
}

/** A mint proves its burn, also while the burn's block is gone and its bytes are sent again. */
export function transitOf({ ordered, burn, mint, minted, attested }: Rebalance): Transit {
  const short = mint?.short ?? null;
  const burned = burn.settled || minted || short ? BigInt(ordered.amount) : 0n;
  if (minted) {
    const received = inSourceUnits(ordered, minted.received);
    return { burned, minted: received, fee: burned - received, inTransit: 0n };
  }
  if (!short) return { burned, minted: 0n, fee: 0n, inTransit: burned };
  const [fee, arrived] = [attested?.feeExecuted ?? 0n, inSourceUnits(ordered, short.arrived)];
  return { burned, minted: arrived, fee, inTransit: burned - fee - arrived };
}

/** Money that is on its way to an account. */
export interface Arriving {
  readonly chainId: ChainId;
  readonly account: string;
  readonly token: string;
  /** At least this arrives, in smallest units of the destination's token: the amount without the highest fee that was allowed. */
  readonly amount: bigint;
  /** From the burn's confirmation on; an attested burn can be minted at any time. */
  readonly expectedAt: Instant;
}

/** Returns the amount of one rebalance in transit and its expected time; null if nothing of it is in transit. */
export function arrivingFrom(state: Rebalance): Arriving | null {
  const { ordered, burn, attested } = state;
  const { inTransit } = transitOf(state);
  if (inTransit === 0n || !burn.settled) return null;
  const { chainId, account, token } = ordered.to;
  const fee = attested?.feeExecuted ?? BigInt(ordered.route.feeMax);
  const expectedAt = attested?.at ?? plus(burn.settled.confirmedAt, travelOf(ordered));
  return { chainId, account, token: token.address, amount: inDestinationUnits(ordered, inTransit - fee), expectedAt };
}

function travelOf(order: RebalanceOrdered): number {
  const { chainId } = order.from;
  if (isCctp(order)) return isCctpChain(chainId) ? (travelTime_ms(chainId, order.route.finality) ?? 0) : 0;
  return isUsdt0Chain(chainId) ? messageTime_ms(chainId) : 0;
}
