/** What several nodes must agree on, and what one of them is enough for. */

import { TransientError } from '../../../commands/ports.ts';
import type { Fate } from '../ports.ts';
import { type ChainNode, type ChainRpc, ChainUnavailable, type RpcFailed } from './jsonRpc.ts';

/**
 * Asks the nodes one after the other until one can say what became of attempts; `unknown` when none can. One that calls them dead needs
 * the others' assent: a wrong proof would pay twice.
 * @param ask undefined when the node knows nothing of the attempts and cannot prove them dead
 */
export async function agreedFate(
  rpc: ChainRpc,
  ask: (node: ChainNode) => Promise<Fate | undefined>,
  signal: AbortSignal,
): Promise<Fate> {
  try {
    const said = await rpc.first(ask, signal);
    if (said?.kind !== 'dead') return said ?? { kind: 'unknown' };
    const all = await rpc.every(ask, signal);
    const denied = all.some((other) => other !== undefined && other.kind !== 'dead');
    return denied ? { kind: 'pending', mined: true } : said;
  } catch (error) {
    if (error instanceof ChainUnavailable) return { kind: 'unknown' };
    throw error;
  }
}

/**
 * Every node refuses the bytes and says why. It passes: signed bytes hold a nonce that later payouts wait for, so what nodes do not
 * take today is sent again and never set aside.
 */
export class BroadcastRefused extends TransientError {
  override readonly name = 'BroadcastRefused';
}

/**
 * Sends to every node at once; one that takes the bytes, or has them, is enough. Each call has its own time limit.
 * @param send resolves when the node takes or has them, throws RpcFailed when it does not
 * @throws ChainUnavailable when no node answers, BroadcastRefused when those that answer refuse; sending again later is safe
 */
export async function sendToAll(rpc: ChainRpc, send: (node: ChainNode) => Promise<void>): Promise<void> {
  const outcomes = await rpc.each(send);
  if (outcomes.some(({ status }) => status === 'fulfilled')) return;
  const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as RpcFailed] : []));
  const refusals = failures.filter(({ kind }) => kind === 'refused');
  if (refusals.length === 0) throw new ChainUnavailable(rpc.chainId, failures);
  throw new BroadcastRefused(
    `chain ${rpc.chainId} refuses the transaction: ${refusals.map(({ message }) => message).join('; ')}`,
  );
}
