/** Blocks that used gas, told for many by one call: what used none holds no transfers. */
import { numberToHex } from 'viem';
import type { ChainId } from '../../../../domain/chains.ts';
import { lower } from '../../../lib/bigints.ts';
import { ask, list, object } from '../../node/jsonRpc.ts';
import { quantity } from '../reads.ts';
import { type EvmNode, RpcFailed } from '../rpc.ts';

/** As many as geth and those who follow it tell of at once. */
const historyMax_blocks = 1_024n;

/** Where transfers come that use no gas: Polygon's state syncs bring what was sent over from Ethereum. */
const gasless: ReadonlySet<ChainId> = new Set([137]);

/**
 * @param from the lowest height
 * @param to the highest height
 * @returns heights whose blocks used gas, and those that the node does not tell of
 */
export async function usedBlocks(
  chainId: ChainId,
  node: EvmNode,
  from: bigint,
  to: bigint,
): Promise<readonly bigint[]> {
  const used: bigint[] = [];
  for (let first = from; first <= to; first += historyMax_blocks) {
    const last = lower(to, first + historyMax_blocks - 1n);
    const unused = gasless.has(chainId) ? new Set() : await unusedAmong(node, first, last);
    for (let height = first; height <= last; height++) if (!unused.has(height)) used.push(height);
  }
  return used;
}

async function unusedAmong(node: EvmNode, first: bigint, last: bigint): Promise<ReadonlySet<bigint>> {
  try {
    const params = [numberToHex(last - first + 1n), numberToHex(last), []];
    return await ask(node, 'eth_feeHistory', params, (told) => {
      const { oldestBlock, gasUsedRatio } = object(told);
      const oldest = quantity(oldestBlock);
      return new Set(list(gasUsedRatio).flatMap((ratio, at) => (ratio === 0 ? oldest + BigInt(at) : [])));
    });
  } catch (error) {
    if (error instanceof RpcFailed && (error.kind === 'refused' || error.kind === 'malformed')) return new Set();
    throw error;
  }
}
