/** Which deposits are worth the network's fee for taking them. */
import { microUsdDecimals, rescale } from '../../domain/money.ts';
import type { DepositSweep, HeldDeposit, LeftDeposit, SweepPart, SweepPlan } from './ports.ts';

/** What a chain's coin is reckoned at. */
export interface CoinPrice {
  readonly decimals: number;
  /** Of a whole coin, in millionths of a dollar. */
  readonly price_microUsd: bigint;
}

export interface SweepLimits {
  /** What a deposit must hold at least, in millionths of a dollar. */
  readonly least_microUsd: bigint;
  /** Most that is paid for one of gas, in smallest units of the coin; null for the chain's own limit. */
  readonly gasPriceMax: bigint | null;
  /** Also what costs more than it brings. */
  readonly evenAtALoss: boolean;
}

/** A token counts as one dollar. @returns in millionths of one, rounded down */
export const worthOf = ({ amount, token }: Pick<HeldDeposit, 'amount' | 'token'>): bigint =>
  rescale(amount, token.decimals, microUsdDecimals);

/** @returns in millionths of a dollar, rounded up; negative where more comes back */
export function costOf({ cost }: Pick<SweepPart, 'cost'>, { decimals, price_microUsd }: CoinPrice): bigint {
  const one = 10n ** BigInt(decimals);
  const product = cost * price_microUsd;
  return product > 0n ? (product + one - 1n) / one : product / one;
}

/** All deposits of a transaction have an equal share of what it costs: each uses about the same gas. */
function parted(part: SweepPart, coin: CoinPrice) {
  const count = BigInt(part.deposits.length);
  const cost = costOf(part, coin);
  const pays = (deposit: HeldDeposit) => worthOf(deposit) * count >= cost;
  return { worth: part.deposits.filter(pays), dear: part.deposits.filter((deposit) => !pays(deposit)) };
}

const tooDear = 'holds less than taking it costs';

/**
 * Plans only what pays for itself, unless told otherwise: what does not is taken out, and the others are planned again without it.
 * @param held of one token, those that hold most first
 */
export async function planWorth(
  sweep: DepositSweep,
  held: readonly HeldDeposit[],
  { coin, limits, signal }: { readonly coin: CoinPrice; readonly limits: SweepLimits; readonly signal: AbortSignal },
): Promise<SweepPlan> {
  const first = await sweep.plan(held, sweep.partsMax, signal);
  if (limits.evenAtALoss) return first;
  const parts: SweepPart[] = [];
  const left: LeftDeposit[] = [...first.left];
  const leave = (deposits: readonly HeldDeposit[]) => left.push(...deposits.map((each) => ({ ...each, why: tooDear })));
  for (const part of first.parts) {
    const { worth, dear } = parted(part, coin);
    leave(dear);
    if (dear.length === 0) parts.push(part);
    else if (worth.length > 0) {
      const again = await sweep.plan(worth, sweep.partsMax, signal);
      left.push(...again.left);
      for (const each of again.parts) {
        if (parted(each, coin).dear.length > 0) leave(each.deposits);
        else parts.push(each);
      }
    }
  }
  return { parts: parts.slice(0, sweep.partsMax), left };
}
