/** Where a pass stands: its block, which other nodes have as well. */
import { instant } from '../../../../domain/time.ts';
import { isShared } from '../../node/agreement.ts';
import { RpcFailed } from '../../node/jsonRpc.ts';
import type { Cursor, Pass } from '../../ports.ts';
import { solanaChainId } from '../config.ts';
import { blockIfThere } from '../newest.ts';
import type { Block } from '../reads.ts';
import type { SolanaNode, SolanaRpc } from '../rpc.ts';
import { timeOf } from './credits.ts';

/** @throws RpcFailed when other nodes answer and none has the block */
export async function mustBeShared(
  rpc: SolanaRpc,
  node: SolanaNode,
  { slot, hash }: Block,
  signal: AbortSignal,
): Promise<void> {
  const shows = (other: SolanaNode) =>
    blockIfThere(other, slot, 'finalized').then(
      (block) => block?.hash === hash,
      (error: unknown) => {
        if (error instanceof RpcFailed && error.kind === 'refused') return false;
        throw error;
      },
    );
  if (await isShared(rpc, node, shows, signal)) return;
  throw new RpcFailed(node.name, 'getBlock', 'refused', `no other node shows slot ${slot} as ${hash}`);
}

export const cursorOf = (pass: Pass, block: Block): Cursor => ({
  chainId: solanaChainId,
  pass,
  blockNumber: block.slot,
  blockHash: block.hash,
  chainTime: timeOf(block),
});

/** A cursor that no block of the chain was read for. */
export const nowhere = (pass: Pass, blockNumber: bigint): Cursor => ({
  chainId: solanaChainId,
  pass,
  blockNumber,
  blockHash: `before slot ${blockNumber + 1n}`,
  chainTime: instant(0),
});
