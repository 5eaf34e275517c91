/** What a transfer brought its receiver, as the balances around its transaction tell it. */
import type { Cost } from '../../../../domain/transfer/shapes.ts';
import { type ChainNode, RpcFailed } from '../../node/jsonRpc.ts';
import type { Sent } from '../../ports.ts';
import { type Landed, landed, type TokenBalance } from '../landed.ts';
import { tokenAccountOf } from '../tokenProgram.ts';

type Transferred = Pick<Sent, 'account' | 'token' | 'receiver' | 'amount' | 'form'>;

/** The final transaction. @throws RpcFailed when the node does not have it */
export async function finalTransaction(node: ChainNode, hash: string): Promise<Landed> {
  const found = await landed(node, hash, 'finalized');
  if (found) return found;
  throw new RpcFailed(node.name, 'getTransaction', 'refused', `it does not have the balances of ${hash}`);
}

/**
 * By how much the receiver's token account grew.
 * @throws RpcFailed when the node does not have the transaction whole: one without the payer's own balance was not recorded whole
 */
export function arrivedIn(node: ChainNode, found: Landed, transfer: Transferred): bigint {
  const { account, token, receiver, amount, form } = transfer;
  if (form?.kind === 'coin') return coinArrivedIn(node, found, transfer);
  const payer = form?.kind === 'flush' ? form.deposits[0]?.address : account;
  const [from, to] = [payer ?? account, receiver].map((owner) => tokenAccountOf(owner, token.address));
  if (!found.before.some((balance) => balance.account === from))
    throw new RpcFailed(node.name, 'getTransaction', 'refused', `it does not have the balances of ${found.signature}`);
  // What the treasury pays itself moves nothing.
  if (from === to) return BigInt(amount);
  const held = (balances: readonly TokenBalance[]) =>
    balances.find((balance) => balance.account === to && balance.mint === token.address)?.amount ?? 0n;
  const grown = held(found.after) - held(found.before);
  return grown > 0n ? grown : 0n;
}

/** By how much the receiver's wallet grew. @throws RpcFailed when the node does not tell of the coin */
function coinArrivedIn(
  node: ChainNode,
  { signature, accounts, coin }: Landed,
  { account, receiver, amount }: Transferred,
) {
  const at = accounts.indexOf(receiver);
  const [before, after] = [coin?.before[at], coin?.after[at]];
  if (before === undefined || after === undefined)
    throw new RpcFailed(node.name, 'getTransaction', 'refused', `it does not have the balances of ${signature}`);
  if (receiver === account) return BigInt(amount);
  return after > before ? after - before : 0n;
}

/** What it took of its payer's coin: the fee, and the rent of accounts that it opened or closed. Undefined where the node does not tell. */
/** @param paid lamports that it was ordered to move */
export function costIn({ accounts, coin }: Landed, paid = 0n): Cost | undefined {
  const [payer] = accounts;
  if (payer === undefined || !coin) return undefined;
  const rent = (coin.before[0] ?? 0n) - (coin.after[0] ?? 0n) - coin.fee - paid;
  return { payer, fee: coin.fee.toString(), ...(rent !== 0n && { rent: rent.toString() }) };
}
