/**
 * Blocks after a cursor, read from one node by hash: a node without the block must fail (EIP-234), while it may answer a height range with
 * an empty list.
 */

import { type Hex, hexToBytes, keccak256 } from 'viem';
import type { Chain } from '../../../../domain/chains.ts';
import { inParallel, lower } from '../../../lib/concurrency.ts';
import type { Cursor } from '../../ports.ts';
import {
  countReceiptLogs,
  type Header,
  knownHeader,
  type LogsShown,
  type RawLog,
  transferLogs,
  transferTopic,
} from '../reads.ts';
import { type EvmNode, RpcFailed } from '../rpc.ts';
import { type LogTransfers, readTransfers } from './transfers.ts';

const bloom_bytes = 256;

/**
 * False only if a block certainly has no transfers of catalogue tokens. True without a filter in its header. Reads the bloom filter over
 * the block's logs in its header (Yellow Paper 4.3.1).
 */
export function mayHoldTransfers(chain: Chain, { logsBloom }: Pick<Header, 'logsBloom'>): boolean {
  if (logsBloom === undefined) return true;
  const bloom = hexToBytes(logsBloom);
  if (bloom.length !== bloom_bytes || !mayHold(bloom, transferTopic)) return bloom.length !== bloom_bytes;
  return chain.tokens.some(({ address }) => mayHold(bloom, address as Hex));
}

/** Each value sets three bits, given by the first three byte pairs of its hash. */
function mayHold(bloom: Uint8Array, value: Hex): boolean {
  const hash = hexToBytes(keccak256(value));
  return [0, 2, 4].every((at) => {
    const bit = (((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) & 2_047;
    return (((bloom[bloom_bytes - 1 - (bit >> 3)] ?? 0) >> (bit & 7)) & 1) === 1;
  });
}

/** Maximum concurrent calls to one node. */
export const callsAtOnce = 8;

/** Fewer blocks than this are read by hash, for the same number of calls. */
export const togetherFrom_blocks = 3n;

/** Calls of one request that prove a range. */
const callsTogether = 3;

/** True if a node accepts several calls per request, as far as is known. */
export const takesTogether = ({ limits }: EvmNode): boolean => (limits.most('calls') ?? callsTogether) >= callsTogether;

/** Maximum blocks read by hash at a time. */
const most_blocks = 64n;

export interface Block {
  readonly number: bigint;
  readonly hash: string;
}

export interface BlocksRead extends LogTransfers {
  /** Blocks identified by this read, oldest first. */
  readonly blocks: readonly Block[];
  /** End of the range that was read. */
  readonly last: Header;
}

/** Blocks at these heights. @throws RpcFailed if the node lacks one */
export const headersAt = (node: EvmNode, heights: readonly bigint[]): Promise<readonly Header[]> =>
  inParallel(heights, callsAtOnce, (height) => knownHeader(node, height));

/**
 * Up to `most_blocks` blocks, each linked to its parent. Each pass reads their logs itself, so a log that a node omitted once is read again
 * before it is final. An empty answer for a block whose header allows logs is compared with another node's.
 * @param others the other nodes of the chain
 * @returns undefined if the first is no child of the cursor: a fork just happened
 */
export async function readByHash(
  chain: Chain,
  node: EvmNode,
  others: readonly EvmNode[],
  { cursor, end }: { readonly cursor: Cursor; readonly end: bigint },
  headersAt: (heights: readonly bigint[]) => Promise<readonly Header[]>,
): Promise<BlocksRead | undefined> {
  const first = cursor.blockNumber + 1n;
  const until = lower(end, first + most_blocks - 1n);
  const heights = Array.from({ length: Number(until - first) + 1 }, (_, at) => first + BigInt(at));
  const blocks = linked(cursor.blockHash, await headersAt(heights));
  const last = blocks.at(-1);
  if (!last) return undefined;
  const told = await inParallel(blocks, callsAtOnce, async (header) => {
    const shown = await transferLogs(node, addressesOf(chain), { blockHash: header.hash });
    await checkEmpty(chain, { node, others }, header, shown);
    const logs = sortedTransfers(shown, node, (log) => log.blockHash === header.hash);
    return readTransfers(chain, logs, () => header.time_s, header.number);
  });
  return {
    blocks,
    last,
    logs: told.flatMap(({ logs }) => logs),
    unreadable: told.flatMap(({ unreadable }) => unreadable),
  };
}

interface Asked {
  readonly node: EvmNode;
  /** The other nodes of the chain. */
  readonly others: readonly EvmNode[];
}

/**
 * Compares an empty answer for a block whose header allows logs with another node's answer, or, if none can answer, with the same node's
 * receipts.
 * @throws RpcFailed if these have logs; a missing answer proves nothing
 */
export async function checkEmpty(chain: Chain, asked: Asked, header: Header, shown: LogsShown): Promise<void> {
  if (!isEmpty(shown) || !mayHoldTransfers(chain, header)) return;
  if (await compareEmpty(chain, asked, header.hash)) return;
  const { node } = asked;
  // null: the node has just returned the block, and now does not know it.
  const count = await countReceiptLogs(node, addressesOf(chain), header.hash).catch(orNothing);
  if (count !== 0 && count !== 'unknown')
    throw new RpcFailed(node.name, 'eth_getLogs', 'malformed', `it leaves out what block ${header.hash} holds`);
}

/**
 * Queries by hash: a node without the block must fail.
 * @returns true if another node could answer. @throws RpcFailed if that node returns logs and this one none
 */
async function compareEmpty(chain: Chain, { node, others }: Asked, blockHash: Header['hash']): Promise<boolean> {
  for (const other of others) {
    const shown = await transferLogs(other, addressesOf(chain), { blockHash }).catch(orNothing);
    if (shown === 'unknown') continue;
    if (isEmpty(shown)) return true;
    throw new RpcFailed(node.name, 'eth_getLogs', 'malformed', `it leaves out what ${other.name} shows`);
  }
  return false;
}

export const isEmpty = ({ logs, broken }: LogsShown): boolean => logs.length + broken.length === 0;

function orNothing(error: unknown): 'unknown' {
  if (!(error instanceof RpcFailed)) throw error;
  return 'unknown';
}

/** Keeps the headers up to a broken parent link: a fork happened during the read. */
function linked(parentHash: string, headers: readonly Header[]): readonly Header[] {
  let parent = parentHash;
  const broken = headers.findIndex((next) => {
    const fits = next.parentHash === parent;
    parent = next.hash;
    return !fits;
  });
  return broken === -1 ? headers : headers.slice(0, broken);
}

export const addressesOf = (chain: Chain): readonly string[] => chain.tokens.map((token) => token.address);

/** Sorts logs in chain order. @throws RpcFailed if the node returned logs outside the query */
export function sortedTransfers(
  { logs, broken }: LogsShown,
  node: EvmNode,
  asked: (log: RawLog) => boolean,
): LogsShown {
  if (!logs.every(asked)) throw new RpcFailed(node.name, 'eth_getLogs', 'malformed', 'logs of other blocks');
  return { logs: logs.toSorted((a, b) => Number(a.blockNumber - b.blockNumber) || a.logIndex - b.logIndex), broken };
}

/** Blocks of logs, once each. */
export const blocksOf = (logs: readonly RawLog[]): readonly Block[] => [
  ...new Map(
    logs.map(({ blockNumber, blockHash }) => [blockNumber, { number: blockNumber, hash: blockHash }]),
  ).values(),
];
