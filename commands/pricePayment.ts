/** What a payment costs, once the destination chain was asked what its payout does. */
import type { Chain, Token } from '../domain/chains.ts';
import { isRefusal, type Refusal } from '../domain/decider.ts';
import * as creation from '../domain/payment/create.ts';
import { coveringFee, leastPayout, type PayoutCost } from '../domain/payment/payoutCost.ts';
import type { Alternative } from '../domain/payment/sources.ts';
import { refuseUnavailable, Unavailable } from './ports.ts';

/** Asks what a payout to a receiver costs. @throws Unavailable */
export type PayoutCostOf = (chain: Chain, token: Token, receiver: string) => Promise<PayoutCost>;

export type Asked = creation.AskedTerms & Pick<creation.Terms, 'feePolicy'>;

export interface Price
  extends Pick<creation.Terms, 'feePolicy' | 'alternatives' | 'tolerable' | 'leastPayout' | 'opensAccount'> {
  readonly agreed: Exclude<ReturnType<typeof creation.agree>, Refusal>;
}

/**
 * The fee covers what the payout costs, of each source that the payer may choose; a payout that is worth less is refused.
 *
 * @param asked with the fee that holds wherever the payout costs no more
 */
export async function pricePayment(costOf: PayoutCostOf, asked: Asked): Promise<Price | Refusal> {
  const { source, destination, alternatives = [], tolerable } = asked;
  const cost = await costTold(costOf, destination);
  if (isRefusal(cost)) return cost;
  const covering = (each: Alternative): Alternative => ({
    ...each,
    feePolicy: coveringFee(each.feePolicy, each.token, cost),
  });
  const price = {
    feePolicy: coveringFee(asked.feePolicy, source.token, cost),
    alternatives: alternatives.map(covering),
    ...(tolerable && { tolerable: tolerable.map(covering) }),
    leastPayout: leastPayout(destination.token, cost),
    ...(cost.opensAccount !== undefined && { opensAccount: cost.opensAccount }),
  };
  const agreed = creation.agree({ ...asked, ...price });
  return isRefusal(agreed) ? agreed : { ...price, agreed };
}

async function costTold(
  costOf: PayoutCostOf,
  { chain, token, receiverAddress }: creation.AskedTerms['destination'],
): Promise<PayoutCost | Refusal> {
  try {
    return await costOf(chain, token, receiverAddress);
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    const message = `${chain.name} cannot be asked at present what a payout costs: try again in a moment`;
    return refuseUnavailable(error, message);
  }
}
