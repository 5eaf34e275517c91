/**
 * Blocks after a cursor, read from one node by their hashes: asked for a hash that it lacks, it must fail (EIP-234), where it may answer
 * a range of heights with nothing.
 */

import { type Hex, hexToBytes, keccak256 } from 'viem';
import type { Chain } from '../../../../domain/chains.ts';
import { inParallel, lower } from '../../../lib/inParallel.ts';
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
import { type Told, tell } from './transfers.ts';

const bloom_bytes = 256;

/**
 * Whether a block may hold transfers of the catalogue's tokens: a no is certain. Without a filter in its header it may. Reads the bloom
 * filter over a block's logs that its header carries (Yellow Paper 4.3.1).
 */
export function mayHoldTransfers(chain: Chain, { logsBloom }: Pick<Header, 'logsBloom'>): boolean {
  if (logsBloom === undefined) return true;
  const bloom = hexToBytes(logsBloom);
  if (bloom.length !== bloom_bytes || !mayHold(bloom, transferTopic)) return bloom.length !== bloom_bytes;
  return chain.tokens.some(({ address }) => mayHold(bloom, address as Hex));
}

/** Each value sets three bits, told by the first three pairs of bytes of its hash. */
function mayHold(bloom: Uint8Array, value: Hex): boolean {
  const hash = hexToBytes(keccak256(value));
  return [0, 2, 4].every((at) => {
    const bit = (((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) & 2_047;
    return (((bloom[bloom_bytes - 1 - (bit >> 3)] ?? 0) >> (bit & 7)) & 1) === 1;
  });
}

/** Calls to one node at a time. */
export const callsAtOnce = 8;

/** Fewer blocks than this are read by their hashes for as many calls. */
export const togetherFrom_blocks = 3n;

/** What proves a range in one request. */
const callsTogether = 3;

/** Whether a node takes several calls in one request, as far as is known. */
export const takesTogether = ({ limits }: EvmNode): boolean => (limits.most('calls') ?? callsTogether) >= callsTogether;

/** Most blocks that are read by hash at a time. */
const most_blocks = 64n;

export interface Block {
  readonly number: bigint;
  readonly hash: string;
}

export interface BlocksRead extends Told {
  /** Whose hashes are now known, oldest first. */
  readonly blocks: readonly Block[];
  /** The end of what was read. */
  readonly last: Header;
}

/** The blocks at these heights, which the node must have. @throws RpcFailed when it lacks one */
export const headersAt = (node: EvmNode, heights: readonly bigint[]): Promise<readonly Header[]> =>
  inParallel(heights, callsAtOnce, (height) => knownHeader(node, height));

/**
 * Up to `most_blocks` blocks, each linked to its parent. Each pass reads their logs itself: what a node left out once is read again
 * before it is final. An answer without logs, of a block whose header says that there may be some, is compared with another node's.
 * @param others the other nodes of the chain
 * @returns undefined when the first is no child of the cursor: a fork just came
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
    const logs = inOrder(shown, node, (log) => log.blockHash === header.hash);
    return tell(chain, logs, () => header.time_s, header.number);
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
 * An answer without logs of a block whose header says that there may be some is compared with another node's, or, where none can say, with
 * the receipts that the same node has.
 * @throws RpcFailed when these show some; what cannot be told proves nothing
 */
export async function checkEmpty(chain: Chain, asked: Asked, header: Header, shown: LogsShown): Promise<void> {
  if (!isEmpty(shown) || !mayHoldTransfers(chain, header)) return;
  if (await compareEmpty(chain, asked, header.hash)) return;
  const { node } = asked;
  // null: it has just shown the block, and does not know it.
  const count = await countReceiptLogs(node, addressesOf(chain), header.hash).catch(orNothing);
  if (count !== 0 && count !== 'unknown')
    throw new RpcFailed(node.name, 'eth_getLogs', 'malformed', `it leaves out what block ${header.hash} holds`);
}

/**
 * By its hash: a node that lacks the block must fail.
 * @returns whether another node could say. @throws RpcFailed when it shows logs where this one shows none
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

/** The headers up to where one is not the next one's parent: a fork came while they were read. */
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

/** Sorts logs as the chain has them. @throws RpcFailed when the node answered with logs that were not asked for */
export function inOrder({ logs, broken }: LogsShown, node: EvmNode, asked: (log: RawLog) => boolean): LogsShown {
  if (!logs.every(asked)) throw new RpcFailed(node.name, 'eth_getLogs', 'malformed', 'logs of other blocks');
  return { logs: logs.toSorted((a, b) => Number(a.blockNumber - b.blockNumber) || a.logIndex - b.logIndex), broken };
}

/** The blocks that logs show, once each. */
export const blocksOf = (logs: readonly RawLog[]): readonly Block[] => [
  ...new Map(
    logs.map(({ blockNumber, blockHash }) => [blockNumber, { number: blockNumber, hash: blockHash }]),
  ).values(),
];
