/** What several nodes must agree on, and what one of them is enough for. */
import { TransientError } from '../../../commands/ports.ts';
import type { Fate } from '../ports.ts';
import { type ChainNode, type ChainRpc, ChainUnavailable, type RpcFailed } from './jsonRpc.ts';

/** What a node says of attempts; undefined when it knows nothing of them and cannot prove them dead. */
type Said = Fate | undefined;

/**
 * What a node's proof that attempts are dead is worth beside the other nodes' answers. A wrong one would pay twice.
 * @param all answers of the nodes that could be asked, the prover's among them
 */
export type Assent = (dead: Fate, all: readonly Said[]) => Fate;

const undecided: Fate = { kind: 'pending', mined: true };

/** For a proof that shows what happened instead: it counts unless a node contradicts it. Then nothing is decided yet. */
export const unlessDenied: Assent = (dead, all) =>
  all.some((said) => said !== undefined && said.kind !== 'dead') ? undecided : dead;

/** For a proof that the attempt is nowhere: every node must give it. A node that has the attempt is believed. */
export const whenAllProve: Assent = (dead, all) => {
  const without = all.filter((said) => said?.kind !== 'dead');
  return without.length === 0 ? dead : (without.find((said) => said !== undefined) ?? undecided);
};

/**
 * Asks the nodes one after the other until one can say what became of attempts; `unknown` when none can. When it calls them dead, all
 * nodes are asked.
 */
export async function agreedFate(
  rpc: ChainRpc,
  ask: (node: ChainNode) => Promise<Said>,
  assent: Assent,
  signal: AbortSignal,
): Promise<Fate> {
  try {
    const said = await rpc.first(ask, signal);
    if (said?.kind !== 'dead') return said ?? { kind: 'unknown' };
    return assent(said, await rpc.every(ask, signal));
  } catch (error) {
    if (error instanceof ChainUnavailable) return { kind: 'unknown' };
    throw error;
  }
}

/** Every node that answers refuses the bytes. They are sent again, never set aside: later payouts wait for the nonce that they hold. */
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
