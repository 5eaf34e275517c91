/** Reads an app's amount policy and its fees as people state them: amounts in dollars as decimal texts. */
import { findChain } from '../domain/chains.ts';
import { isRefusal, type Refusal, refuse } from '../domain/decider.ts';
import type { FeeTier } from '../domain/merchant/events.ts';
import type { FeeRoute } from '../domain/merchant/fees.ts';
import { unitsText } from '../domain/money.ts';
import type { AmountPolicy, StatedPolicy } from '../domain/payment/amountPolicy.ts';
import { readMicroUsd } from './paymentAmounts.ts';

export function readPolicy(stated: StatedPolicy): AmountPolicy | Refusal {
  const { tolerance = { basisPoints: 0, most: '0' }, lateWithinMinutes = 0 } = stated;
  const most = readMicroUsd(tolerance.most, '/tolerance/most');
  if (isRefusal(most)) return most;
  const { under = 'hold', over = 'hold', late = 'hold', wrongToken = 'hold', wrongChain = 'hold' } = stated;
  return {
    tolerance: { basisPoints: tolerance.basisPoints, most_microUsd: unitsText(most) },
    under,
    over,
    late,
    lateWithin_minutes: lateWithinMinutes,
    wrongToken,
    wrongChain,
  };
}

/** From one chain to another, as people name them; left out for every chain. */
export interface StatedRoute {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export interface StatedFee extends StatedRoute {
  /** In dollars. */
  readonly fixed: string;
  readonly basisPoints: number;
  readonly belowCost: boolean;
}

export function readRoute({ from, to }: StatedRoute): FeeRoute | Refusal {
  const [source, destination] = [from, to].map((text) => (text === undefined ? null : findChain(text)));
  if (source === undefined) return refuse('invalidRequest', `${from} is no known chain`, '/from');
  if (destination === undefined) return refuse('invalidRequest', `${to} is no known chain`, '/to');
  return { sourceChainId: source?.id ?? null, destinationChainId: destination?.id ?? null };
}

export function readFee(stated: StatedFee): FeeTier | Refusal {
  const route = readRoute(stated);
  if (isRefusal(route)) return route;
  const fixed = readMicroUsd(stated.fixed, '/fixed');
  if (isRefusal(fixed)) return fixed;
  const { basisPoints, belowCost } = stated;
  return { ...route, fixed_microUsd: unitsText(fixed), basisPoints, belowCost };
}
