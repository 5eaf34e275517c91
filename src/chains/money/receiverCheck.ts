import { type ReceiverChecks, Unavailable } from '../../../commands/ports.ts';
import { chainOf, type Token, tokenAt } from '../../../domain/chains.ts';
import type { Refusal } from '../../../domain/decider.ts';
import type { RebalanceOrdered } from '../../../domain/rebalance/events.ts';
import { inDestinationUnits } from '../../../domain/rebalance/rebalance.ts';
import type { ChainNode } from '../node/jsonRpc.ts';
import { type ChainRpc, ChainUnavailable } from '../node/nodes.ts';
import type { CanReceive } from '../ports.ts';

/**
 * Returns why a receiver cannot receive an amount now, and what it must do; undefined if it can.
 * @param receiver with the memo of the payment
 * @param amount in smallest units; null checks for any room at all
 * @throws RpcFailed
 */
export type Obstacle = (
  node: ChainNode,
  token: Token,
  receiver: CheckedReceiver,
  amount: bigint | null,
) => Promise<Refusal | undefined>;

export interface CheckedReceiver {
  readonly address: string;
  readonly memo: string | null;
}

/** Memo for a check of the treasury's own account, which needs none, even if it accepts nothing of others without one (SEP-29). */
export const ownMemo = '';

/** Called before a payment is created. Throws Unavailable if the chain cannot be queried: the answer is never guessed. */
export function createCanReceive(rpc: ChainRpc, obstacle: Obstacle): CanReceive {
  return async (chain, token, address, amount = null, memo = null) => {
    try {
      const { why } = await rpc.answer(async (node) => ({
        why: await obstacle(node, token, { address, memo }, amount),
      }));
      return why;
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      const message = `${chain.name} cannot be asked at present whether the receiver takes ${token.symbol}`;
      throw new Unavailable(message, error.retryAfter_s, { cause: error });
    }
  };
}

/**
 * Checks before a burn that the treasury's account on the destination can receive the money: behind the burn nobody can call it back.
 *
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
