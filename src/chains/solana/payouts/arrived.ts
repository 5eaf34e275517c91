/** What a payout brought its receiver, as the balances around its transaction tell it. */
import type { SignedAttempt } from '../../../../domain/transfer/shapes.ts';
import { type ChainNode, RpcFailed } from '../../node/jsonRpc.ts';
import { landed, type TokenBalance } from '../landed.ts';
import { tokenAccountOf } from '../tokenProgram.ts';

export type Transferred = Pick<SignedAttempt, 'account' | 'token' | 'receiver' | 'amount'>;

/**
 * By how much the receiver's token account grew.
 * @throws RpcFailed when the node does not have the final transaction whole: one without the payer's own balance was not recorded whole
 */
export async function arrivedBy(node: ChainNode, hash: string, transfer: Transferred): Promise<bigint> {
  const { account, token, receiver, amount } = transfer;
  const found = await landed(node, hash, 'finalized');
  const [from, to] = [account, receiver].map((owner) => tokenAccountOf(owner, token.address));
  if (!found?.before.some((balance) => balance.account === from))
    throw new RpcFailed(node.name, 'getTransaction', 'refused', `it does not have the balances of ${hash}`);
  // What the treasury pays itself moves nothing.
  if (from === to) return BigInt(amount);
  const held = (balances: readonly TokenBalance[]) =>
    balances.find((balance) => balance.account === to && balance.mint === token.address)?.amount ?? 0n;
  const grown = held(found.after) - held(found.before);
  return grown > 0n ? grown : 0n;
}
