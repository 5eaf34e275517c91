/** What a node holds for final, and what for part of its chain. */
import { lower } from '../bigints.ts';
import type { Depth } from './config.ts';
import { header, headerByHash, knownHeader } from './reads.ts';
import type { EvmNode } from './rpc.ts';

/**
 * The newest height that a node holds for final at a depth; negative while the chain is shorter than that.
 * While a tag stalls, the height stays where it is: nothing becomes final by other means.
 * @param head the node's newest height
 * @throws RpcFailed when the node lacks the tag
 */
export async function finalHeight(node: EvmNode, head: bigint, depth: Depth): Promise<bigint> {
  if (typeof depth === 'number') return head - BigInt(depth);
  const { tag, atLeast } = typeof depth === 'string' ? { tag: depth, atLeast: 0 } : depth;
  const tagged = (await knownHeader(node, tag)).number;
  return lower(tagged, head - BigInt(atLeast));
}

/** Whether a block is on a node's chain. Undefined when the node has not come so far and does not know the block. */
export async function isOnChain(
  node: EvmNode,
  { blockNumber, blockHash }: { readonly blockNumber: bigint; readonly blockHash: string },
): Promise<boolean | undefined> {
  const there = await header(node, blockNumber);
  if (there) return there.hash === blockHash;
  return (await headerByHash(node, blockHash)) ? true : undefined;
}
