/** What an app lets happen with money that is not what was agreed, for payments created from now on. */
import { type Decision, type Refusal, refuse } from '../decider.ts';
import { type AmountPolicy, isSamePolicy, lateMax_minutes, toleranceMax } from '../payment/amountPolicy.ts';
import type { MerchantEvent } from './events.ts';
import { type MerchantState, ofRegistered } from './state.ts';

export function setPolicy(state: MerchantState, policy: AmountPolicy): Decision<MerchantEvent> {
  const unfit = unfitness(policy);
  if (unfit) return unfit;
  return ofRegistered(state, isSamePolicy(state.policy, policy) ? [] : [{ type: 'PolicySet', data: policy }]);
}

function unfitness({ tolerance, late, lateWithin_minutes: within }: AmountPolicy): Refusal | undefined {
  const { basisPoints, most_microUsd } = tolerance;
  if (!Number.isInteger(basisPoints) || basisPoints < 0 || basisPoints > toleranceMax.basisPoints)
    return wrong(`a whole number of basis points from 0 to ${toleranceMax.basisPoints}`, '/tolerance/basisPoints');
  if (BigInt(most_microUsd) > toleranceMax.most_microUsd)
    return wrong(`at most ${toleranceMax.most_microUsd / 1_000_000n} dollars`, '/tolerance/most');
  // One of the two alone forgives nothing: both bounds hold.
  if (basisPoints > 0 !== BigInt(most_microUsd) > 0n)
    return wrong('both above zero, or both zero: an amount may be short by both at most', '/tolerance');
  if (!Number.isInteger(within) || within < 0 || within > lateMax_minutes)
    return wrong(`a whole number of minutes from 0 to ${lateMax_minutes}`, '/lateWithinMinutes');
  if (late === 'accept' && within === 0)
    return wrong('above zero where late money is accepted: say for how long', '/lateWithinMinutes');
  if (late !== 'accept' && within > 0) return wrong('0 where late money is not accepted', '/lateWithinMinutes');
  return undefined;
}

const wrong = (must: string, pointer: string): Refusal => refuse('invalidRequest', `must be ${must}`, pointer);
