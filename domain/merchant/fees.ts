/** The fees that the operator has agreed with a merchant, route by route. A payment's terms keep the one that was in force. */
import type { ChainId } from '../chains.ts';
import { type Decision, type Refusal, refuse } from '../decider.ts';
import type { FeeTier, MerchantEvent } from './events.ts';
import { type MerchantState, ofRegistered } from './state.ts';

export const feeTiersMax = 64;
/** No fee is more: ten dollars, and a tenth. */
export const feeMax = { fixed_microUsd: 10_000_000n, basisPoints: 1_000 } as const;

/** From one chain to another; null for every chain. */
export type FeeRoute = Pick<FeeTier, 'sourceChainId' | 'destinationChainId'>;

/** Sets the fee of a route, in place of the one that it had. */
export function setFee(state: MerchantState, tier: FeeTier): Decision<MerchantEvent> {
  const unfit = unfitness(tier);
  if (unfit) return unfit;
  const known = state.fees.find((each) => isSameRoute(each, tier));
  if (known && isSameFee(known, tier)) return [];
  if (!known && state.fees.length >= feeTiersMax)
    return refuse('invalidRequest', `an app has at most ${feeTiersMax} fees: remove one first`);
  const others = state.fees.filter((each) => each !== known);
  return ofRegistered(state, [{ type: 'FeesSet', data: { fees: [...others, tier] } }]);
}

/** The route's fee is again what a less particular one says, and at last the installation's. */
export function removeFee(state: MerchantState, route: FeeRoute): Decision<MerchantEvent> {
  const left = state.fees.filter((each) => !isSameRoute(each, route));
  if (left.length < state.fees.length) return ofRegistered(state, [{ type: 'FeesSet', data: { fees: left } }]);
  return refuse('notFound', 'the app has no fee of its own for this route: look at those that it has');
}

/** The fee that holds for a route: one for both of its chains before one for its source, that before one for its destination. */
export const feeFor = (fees: readonly FeeTier[], source: ChainId, destination: ChainId): FeeTier | undefined => {
  const of = (from: ChainId | null, to: ChainId | null) =>
    fees.find((each) => each.sourceChainId === from && each.destinationChainId === to);
  return of(source, destination) ?? of(source, null) ?? of(null, destination) ?? of(null, null);
};

const isSameRoute = (a: FeeRoute, b: FeeRoute): boolean =>
  a.sourceChainId === b.sourceChainId && a.destinationChainId === b.destinationChainId;

const isSameFee = (a: FeeTier, b: FeeTier): boolean =>
  a.fixed_microUsd === b.fixed_microUsd && a.basisPoints === b.basisPoints && a.belowCost === b.belowCost;

function unfitness({ fixed_microUsd, basisPoints }: FeeTier): Refusal | undefined {
  if (BigInt(fixed_microUsd) > feeMax.fixed_microUsd)
    return refuse('invalidRequest', `must be at most ${feeMax.fixed_microUsd / 1_000_000n} dollars`, '/fixed');
  if (!Number.isInteger(basisPoints) || basisPoints < 0 || basisPoints > feeMax.basisPoints)
    return refuse('invalidRequest', `must be a whole number from 0 to ${feeMax.basisPoints}`, '/basisPoints');
  return undefined;
}
