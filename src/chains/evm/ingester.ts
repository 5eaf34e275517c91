import { chainOf } from '../../../domain/chains.ts';
import { epochMs, instant } from '../../../domain/time.ts';
import { type Cursor, type Ingester, type Pass, passes, type ScannedRange, type TransferLog } from '../ports.ts';
import { higher, lower } from './bigints.ts';
import type { EvmChainConfig } from './config.ts';
import { finalHeight } from './depth.ts';
import { blockAt, cursorAt, nearHead_blocks, onChain, type RangeSize, readByHash, readByRange } from './ranges.ts';
import { headerByHash, knownHeader, receiptOf } from './reads.ts';
import { ChainUnavailable, createEvmRpc, type EvmNode, type EvmRpc, RpcFailed } from './rpc.ts';
import { createTrail } from './trail.ts';
import { transfersOf } from './transfers.ts';

/** Ranges that one call of `scan` may yield: a long catch-up lets its caller look up now and then. */
const rangesMax = 50;
const firstRange_blocks = 500n;

/**
 * Reads the catalogue tokens' transfers of one EVM chain. A pass goes on only with a node whose chain reaches beyond the cursor, so two
 * nodes that differ at the head do not send it back and forth, and each range comes from one node alone.
 */
export function createEvmIngester(config: EvmChainConfig, rpc: EvmRpc = createEvmRpc(config)): Ingester {
  const chain = chainOf(config.chainId);
  const trails = { head: createTrail(), final: createTrail(), finalLarge: createTrail() };
  const size: RangeSize = { blocks: firstRange_blocks, most: BigInt(config.rangeBlocksMax) };

  async function endOf(node: EvmNode, pass: Pass, signal: AbortSignal): Promise<{ head: bigint; end: bigint }> {
    const head = (await knownHeader(node, 'latest', signal)).number;
    return { head, end: pass === 'head' ? head : await finalHeight(node, head, config.depths[pass], signal) };
  }

  async function nextRange(node: EvmNode, cursor: Cursor, signal: AbortSignal): Promise<ScannedRange | undefined> {
    const { head, end } = await endOf(node, cursor.pass, signal);
    if (end <= cursor.blockNumber) return undefined;
    const trail = trails[cursor.pass];
    if (!(await onChain(node, cursor, signal))) {
      const { from, orphaned } = await trail.fork(node, cursor, signal);
      return { logs: [], orphaned, next: cursorAt(cursor, from) };
    }
    if (cursor.pass === 'head') await trail.recall(node, cursor, signal);
    const far = head - nearHead_blocks;
    const read =
      cursor.blockNumber < far
        ? await readByRange(chain, node, cursor, lower(end, far), size, signal)
        : await readByHash(chain, node, cursor, end, signal);
    const last = read?.headers.at(-1);
    if (!read || !last) return undefined;
    trail.add([{ number: cursor.blockNumber, hash: cursor.blockHash as `0x${string}` }, ...read.headers]);
    return { logs: read.logs, orphaned: [], next: cursorAt(cursor, last) };
  }

  /** The log's receipt; `gone` when the node's chain has another block at that height, undefined when the node lags. */
  async function receiptFor(node: EvmNode, log: TransferLog, signal: AbortSignal) {
    const receipt = await receiptOf(node, log.txHash, signal);
    if (receipt?.blockHash === log.blockHash) return receipt;
    const { number: head } = await knownHeader(node, 'latest', signal);
    if (head < log.blockNumber) return undefined;
    const there = await knownHeader(node, log.blockNumber, signal);
    if (there.hash !== log.blockHash) return 'gone';
    throw new RpcFailed(
      node.name,
      'eth_getTransactionReceipt',
      'refused',
      `it has block ${there.number} without receipts`,
    );
  }

  return {
    chainId: config.chainId,
    passes,
    largeFrom: BigInt(config.largeFrom_usd),

    async start(pass, at, signal) {
      const found = await rpc.first(async (node) => {
        const { end } = await endOf(node, pass, signal);
        const newest = await knownHeader(node, higher(end, 0n), signal);
        return blockAt(node, newest, epochMs(at) / 1_000, signal);
      }, signal);
      if (!found) throw new Error(`chain ${chain.id} has no first block`);
      return cursorAt({ chainId: chain.id, pass }, found);
    },

    async *scan(from, signal) {
      let cursor = from;
      for (let ranges = 0; ranges < rangesMax; ranges++) {
        const range = await rpc.first((node) => nextRange(node, cursor, signal), signal);
        if (!range) return;
        yield range;
        cursor = range.next;
      }
    },

    async resolve(log, signal) {
      const receipt = await rpc.first((node) => receiptFor(node, log, signal), signal);
      if (receipt === undefined) throw new ChainUnavailable(chain.id, [new Error(`all lag behind ${log.blockNumber}`)]);
      if (receipt === 'gone') return undefined;
      const index = receipt.logs.findIndex(({ logIndex }) => logIndex === log.logIndex);
      return transfersOf(chain, receipt, epochMs(log.blockTime) / 1_000).find((transfer) => transfer.index === index);
    },

    async lookUp(txHash, signal) {
      const found = await rpc.first(async (node) => {
        const receipt = await receiptOf(node, txHash, signal);
        const block = receipt && (await headerByHash(node, receipt.blockHash, signal));
        return block && transfersOf(chain, receipt, block.time_s);
      }, signal);
      return found ?? [];
    },

    async head(signal) {
      const heads = await rpc.every((node) => knownHeader(node, 'latest', signal), signal);
      const newest = heads.reduce((a, b) => (b.number > a.number ? b : a));
      return { blockNumber: newest.number, chainTime: instant(newest.time_s * 1_000) };
    },
  };
}
