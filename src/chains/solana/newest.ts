/** Blocks that a node may not have yet. */
import { higher } from '../../lib/concurrency.ts';
import { RpcFailed } from '../node/jsonRpc.ts';
import { type Block, blockAt, type Commitment, codes } from './reads.ts';
import type { SolanaNode } from './rpc.ts';

const notThere: ReadonlySet<number | undefined> = new Set([
  codes.blockNotAvailable,
  codes.slotSkipped,
  codes.longTermStorageSlotSkipped,
  codes.blockStatusNotAvailableYet,
]);

/** Null if the node has no block in this slot, or not yet: retries for a while. @throws RpcFailed */
export const blockIfThere = (node: SolanaNode, slot: bigint, commitment: Commitment): Promise<Block | null> =>
  blockAt(node, slot, commitment).catch((error: unknown) => {
    if (error instanceof RpcFailed && notThere.has(error.code)) return null;
    throw error;
  });

/** A usable node has a block within this many slots of its newest one. */
const behindMax_slots = 8n;

/**
 * Newest block that the node returns: it may lack the newest slots, or another node behind the same address answers.
 * @param slots the newest one, and the first relevant one
 * @returns undefined if it has none of them
 */
export async function newestBlock(
  node: SolanaNode,
  { newest, first }: { readonly newest: bigint; readonly first: bigint },
  commitment: Commitment,
): Promise<Block | undefined> {
  const end = higher(first, newest - behindMax_slots);
  for (let slot = newest; slot >= end; slot -= 1n) {
    const block = await blockIfThere(node, slot, commitment);
    if (block) return block;
  }
  return undefined;
}
