/** Whether somebody can take money back, and what sending it costs. */
import { type Chain, type ChainId, chainOf, memoProblem, type Token, tokenAt } from '../domain/chains.ts';
import { assert, type Refusal, refuse } from '../domain/decider.ts';
import { microUsdDecimals, rescaleUp } from '../domain/money.ts';
import type { TokenRef } from '../domain/payment/events.ts';
import type { SendingCost } from '../domain/payment/refundOrder.ts';
import type { Receiver } from '../domain/payment/refundShares.ts';
import { askReceiver } from './paymentRequest.ts';
import { type AddressBook, type ReceiverChecks, refuseUnavailable, Unavailable } from './ports.ts';
import type { PayoutCostOf } from './pricePayment.ts';

export interface SendingDeps {
  readonly addresses: AddressBook;
  readonly canReceive: ReceiverChecks;
  readonly payoutCostOf: PayoutCostOf;
}

export interface SentBack {
  readonly chainId: ChainId;
  readonly token: TokenRef;
  readonly amount: bigint;
  readonly receiver: Receiver;
}

/** Why the receiver cannot take it, and what to do; undefined when it can. */
export async function receiverProblem(deps: SendingDeps, planned: SentBack): Promise<Refusal | undefined> {
  const chain = chainOf(planned.chainId);
  const { address, memo } = planned.receiver;
  if (deps.addresses.canonical(chain, address) !== address)
    return refuse('invalidRequest', `${address} is no address of ${chain.name}`, '/to');
  const wrongMemo = memo === null ? undefined : memoProblem(chain, address, memo);
  if (wrongMemo) return refuse('invalidRequest', wrongMemo, '/memo');
  const ask = deps.canReceive[chain.family];
  const { token, amount } = planned;
  const receiving = { chain, token: knownToken(chain, token.address), receiver: address, amount, receiverMemo: memo };
  return ask && askReceiver(ask, receiving, '/to', '/memo');
}

/** What sending it costs, and what for. */
export async function sendingCost(
  { payoutCostOf }: Pick<SendingDeps, 'payoutCostOf'>,
  { chainId, token, receiver }: Omit<SentBack, 'amount'>,
): Promise<SendingCost | Refusal> {
  const chain = chainOf(chainId);
  try {
    const cost = await payoutCostOf(chain, knownToken(chain, token.address), receiver.address);
    const { cost_microUsd, opensAccount } = cost;
    const networkFee = rescaleUp(cost_microUsd, microUsdDecimals, token.decimals);
    return { networkFee, ...(opensAccount !== undefined && { opensAccount }) };
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    return refuseUnavailable(error, `${error.message}: try again in a moment`);
  }
}

function knownToken(chain: Chain, address: string): Token {
  const token = tokenAt(chain, address);
  assert(token !== undefined, `what came on ${chain.name} is a token that is known there`);
  return token;
}
