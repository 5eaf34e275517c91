/** An account's balances need the required number of agreeing nodes: a wrong answer would open the books, or hide a difference. */
import { agreedOn, type Statement } from '../node/agreement.ts';
import type { ChainNode } from '../node/jsonRpc.ts';
import type { ChainRpc } from '../node/nodes.ts';
import { type AccountBalances, StandingDisputed } from '../ports.ts';

/**
 * @param read reads the account's current state from a node
 * @param again reads another node at the same block, or the nearest available one; throws RpcFailed if it cannot
 * @throws StandingDisputed, ChainUnavailable
 */
export async function agreedStanding(
  rpc: ChainRpc,
  account: string,
  read: (node: ChainNode) => Promise<AccountBalances>,
  again: (node: ChainNode, said: AccountBalances) => Promise<AccountBalances>,
  signal: AbortSignal,
): Promise<AccountBalances> {
  const said = await rpc.answer(read, signal);
  if (rpc.agree.usual <= 1) return said;
  const { agreed, dispute } = await agreedOn(
    rpc,
    rpc.agree.usual,
    async (node) => compared(said, await again(node, said)),
    signal,
  );
  if (agreed && !dispute) return said;
  throw new StandingDisputed(account, dispute ?? { reason: 'nodesTooFew', message: 'too few nodes can say' });
}

function compared(said: AccountBalances, other: AccountBalances): Statement {
  const assets = new Set([...Object.keys(said.balances), ...Object.keys(other.balances)]);
  const differing = [...assets].filter((asset) => (said.balances[asset] ?? 0n) !== (other.balances[asset] ?? 0n));
  if (differing.length === 0 && said.sent !== other.sent)
    return { instead: `the account has sent ${other.sent} transactions by block ${other.blockNumber}` };
  if (differing.length === 0) return 'same';
  const amounts = differing.map((asset) => `${other.balances[asset] ?? 0n} units of ${asset}`).join(', ');
  return { instead: `it holds ${amounts} in block ${other.blockNumber}` };
}
