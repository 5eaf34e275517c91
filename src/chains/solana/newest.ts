/** Blocks that a node may not have yet. */
import { higher } from '../../lib/inParallel.ts';
import { RpcFailed } from '../node/jsonRpc.ts';
import { type Block, blockAt, type Commitment, codes } from './reads.ts';
import type { SolanaNode } from './rpc.ts';

const notThere: ReadonlySet<number | undefined> = new Set([
  codes.blockNotAvailable,
  codes.slotSkipped,
  codes.longTermStorageSlotSkipped,
  codes.blockStatusNotAvailableYet,
]);

/** Null when the node does not have a block in this slot, or not yet: it is asked for a while. @throws RpcFailed */
export const blockIfThere = (node: SolanaNode, slot: bigint, commitment: Commitment): Promise<Block | null> =>
  blockAt(node, slot, commitment).catch((error: unknown) => {
    if (error instanceof RpcFailed && notThere.has(error.code)) return null;
    throw error;
  });

/** So many slots before its newest one a node has a block, or it is no use. */
const behindMax_slots = 8n;

/**
 * The newest block that the node shows: of its newest slots it may have none yet, or another node behind the same address answers.
 * @param slots the newest one, and the first one that is of interest
 * @returns undefined when it shows none of them
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
