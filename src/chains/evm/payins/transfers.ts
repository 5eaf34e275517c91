/** Catalogue-token transfers as logs and receipts tell them. */
import { getAddress, type Hex } from 'viem';
import { type Chain, type Token, tokenAt } from '../../../../domain/chains.ts';
import type { Transfer } from '../../../../domain/payment/events.ts';
import { epochMs, instant } from '../../../../domain/time.ts';
import type { Ingester, TransferLog } from '../../ports.ts';
import { knownHeader, type RawLog, type Receipt, receiptOf, transferTopic } from '../reads.ts';
import { type EvmNode, type EvmRpc, RpcFailed } from '../rpc.ts';

/** An indexed address fills a topic of 32 bytes from the right. */
const addressOf = (topic: Hex) => getAddress(`0x${topic.slice(-40)}`);
const wordLength = 2 + 64;

interface Movement {
  readonly token: Token;
  readonly from: string;
  readonly to: string;
  readonly amount: bigint;
}

/** Reads a log as a transfer of a catalogue token. Undefined for everything else: other contracts, look-alike events, zero amounts. */
function movement(chain: Chain, log: RawLog): Movement | undefined {
  const [topic, from, to, more] = log.topics;
  if (log.removed || topic !== transferTopic || !from || !to || more || log.data.length !== wordLength)
    return undefined;
  const token = tokenAt(chain, log.address);
  const amount = BigInt(log.data);
  if (!token || amount === 0n) return undefined;
  return { token, from: addressOf(from), to: addressOf(to), amount };
}

/** @param blockTime_s of the log's block */
export function toTransferLog(chain: Chain, log: RawLog, blockTime_s: number): TransferLog | undefined {
  const moved = movement(chain, log);
  if (!moved) return undefined;
  const { txHash, blockNumber, blockHash, logIndex } = log;
  return { ...moved, memo: null, txHash, blockNumber, blockHash, logIndex, blockTime: instant(blockTime_s * 1_000) };
}

/**
 * The catalogue-token transfers of a transaction. `index` counts the receipt's own logs: it stays the same when a reorganisation puts
 * the transaction into another block, where the block-wide log index does not.
 */
export function transfersOf(chain: Chain, receipt: Receipt, blockTime_s: number): readonly Transfer[] {
  if (!receipt.succeeded) return [];
  return receipt.logs.flatMap((log, index) => {
    const moved = movement(chain, log);
    if (!moved) return [];
    const { token, from, to, amount } = moved;
    return {
      chainId: chain.id,
      txHash: receipt.hash,
      index,
      blockNumber: receipt.blockNumber.toString(),
      blockHash: receipt.blockHash,
      blockTime: instant(blockTime_s * 1_000),
      token,
      from,
      to,
      amount: amount.toString(),
    };
  });
}

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
