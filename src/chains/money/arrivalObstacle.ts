/** Checks before a burn that the treasury's account on the destination can receive the money: behind the burn nobody can call it back. */
import type { ReceiverChecks } from '../../../commands/ports.ts';
import { chainOf, tokenAt } from '../../../domain/chains.ts';
import type { Refusal } from '../../../domain/decider.ts';
import type { RebalanceOrdered } from '../../../domain/rebalance/events.ts';
import { inDestinationUnits } from '../../../domain/rebalance/rebalance.ts';
import { ownMemo } from './receiverCheck.ts';

/**
 * Returns why the destination's account cannot receive the whole amount now: on Stellar it may lack a trustline or room, on Solana its token
 * account. Undefined if it can. @throws Unavailable if the chain cannot be queried
 */
export async function arrivalObstacle(
  checks: ReceiverChecks,
  ordered: Pick<RebalanceOrdered, 'from' | 'to' | 'amount'>,
): Promise<Refusal | undefined> {
  const { to, amount } = ordered;
  const chain = chainOf(to.chainId);
  const token = tokenAt(chain, to.token.address);
  if (!token) return undefined;
  return checks[chain.family]?.(chain, token, to.account, inDestinationUnits(ordered, BigInt(amount)), ownMemo);
}
