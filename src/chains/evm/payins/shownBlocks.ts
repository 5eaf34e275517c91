/** The blocks of the transfers that a pass has just been shown, node by node. */
import { epochMs } from '../../../../domain/time.ts';
import type { Pass, TransferLog } from '../../ports.ts';
import type { EvmNode } from '../rpc.ts';

export interface ShownBlock {
  readonly hash: string;
  readonly time_s: number;
}

/**
 * What a pass's latest range from a node says of the blocks in it: that they were on the node's chain when it was read. Nothing is kept
 * of ranges before.
 */
export interface ShownBlocks {
  show(node: EvmNode, pass: Pass, logs: readonly TransferLog[]): void;
  /** Undefined when the latest range held no transfer of that height. */
  at(node: EvmNode, pass: Pass, height: bigint): ShownBlock | undefined;
}

export function createShownBlocks(): ShownBlocks {
  const latest = new Map<string, ReadonlyMap<bigint, ShownBlock>>();
  const keyOf = ({ name }: EvmNode, pass: Pass) => `${pass} ${name}`;
  return {
    show(node, pass, logs) {
      const blocks = logs.map(
        ({ blockNumber, blockHash, blockTime }) =>
          [blockNumber, { hash: blockHash, time_s: epochMs(blockTime) / 1_000 }] as const,
      );
      latest.set(keyOf(node, pass), new Map(blocks));
    },
    at: (node, pass, height) => latest.get(keyOf(node, pass))?.get(height),
  };
}
