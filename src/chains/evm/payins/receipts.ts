import type { Chain } from '../../../../domain/chains.ts';
import { epochMs } from '../../../../domain/time.ts';
import type { Ingester, TransferLog } from '../../ports.ts';
import { knownHeader, type Receipt, receiptOf } from '../reads.ts';
import { type EvmNode, type EvmRpc, RpcFailed } from '../rpc.ts';
import { transfersOf } from './transfers.ts';

const method = 'eth_getTransactionReceipt';

/**
 * Single transactions, by receipt.
 * @param reached the highest block read so far: a node behind it cannot say what is not there
 */
export function createReceipts(
  chain: Chain,
  rpc: EvmRpc,
  reached: () => bigint,
): Required<Pick<Ingester, 'resolve' | 'lookUp'>> {
  async function transfersAt(node: EvmNode, txHash: string) {
    const receipt = await receiptOf(node, txHash);
    if (receipt) {
      const block = await knownHeader(node, receipt.blockNumber);
      if (block.hash === receipt.blockHash) return transfersOf(chain, receipt, block.time_s);
      throw new RpcFailed(node.name, method, 'refused', 'its block left the chain while it was read');
    }
    const { number } = await knownHeader(node, 'latest');
    if (number < reached()) throw new RpcFailed(node.name, method, 'refused', `it lags behind block ${reached()}`);
    return undefined;
  }

  return {
    async resolve(log, signal) {
      const receipt = await rpc.first((node) => receiptFor(node, log), signal);
      if (receipt === undefined || receipt === 'gone') return undefined;
      const index = receipt.logs.findIndex(({ logIndex }) => logIndex === log.logIndex);
      return transfersOf(chain, receipt, epochMs(log.blockTime) / 1_000).find((transfer) => transfer.index === index);
    },

    lookUp: async (txHash, signal) => (await rpc.first((node) => transfersAt(node, txHash), signal)) ?? [],
  };
}

/** A log's receipt; `gone` when the node's chain has another block at that height. @throws RpcFailed when the node cannot say */
async function receiptFor(node: EvmNode, log: TransferLog): Promise<Receipt | 'gone'> {
  const receipt = await receiptOf(node, log.txHash);
  if (receipt?.blockHash === log.blockHash) return receipt;
  const there = await knownHeader(node, log.blockNumber);
  if (there.hash !== log.blockHash) return 'gone';
  throw new RpcFailed(node.name, method, 'refused', `it has block ${there.number} without its receipts`);
}
