/**
 * Blocks after a cursor, read from one node by their hashes: asked for a hash that it lacks, it must fail (EIP-234), where it may answer
 * a range of heights with nothing.
 */
import type { Hex } from 'viem';
import type { Chain } from '../../../../domain/chains.ts';
import { lower } from '../../bigints.ts';
import { inParallel } from '../../inParallel.ts';
import type { Cursor, TransferLog } from '../../ports.ts';
import { type Header, knownHeader, type RawLog, transferLogs } from '../reads.ts';
import { type EvmNode, RpcFailed } from '../rpc.ts';
import { mayHoldTransfers } from './bloom.ts';
import { callsAtOnce } from './headers.ts';
import { toTransferLog } from './transfers.ts';

/** Most blocks that are read by hash at a time. */
const most_blocks = 64n;

export interface BlocksRead {
  readonly logs: readonly TransferLog[];
  /** The blocks whose hashes are now known, oldest first; the last one is the end of what was read. */
  readonly headers: readonly Header[];
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
  const last = lower(end, first + most_blocks - 1n);
  const heights = Array.from({ length: Number(last - first) + 1 }, (_, at) => first + BigInt(at));
  const headers = linked(cursor.blockHash, await headersAt(heights));
  if (headers.length === 0) return undefined;

  const logs = await inParallel(headers, callsAtOnce, async (header) => {
    const { hash, time_s } = header;
    const raw = await transferLogs(node, addressesOf(chain), { blockHash: hash });
    if (raw.length === 0 && mayHoldTransfers(chain, header)) await checkEmpty(chain, node, others[0], hash);
    return inOrder(raw, node, (log) => log.blockHash === hash).flatMap(
      (log) => toTransferLog(chain, log, time_s) ?? [],
    );
  });
  return { headers, logs: logs.flat() };
}

/** @throws RpcFailed when another node shows logs of the block; one that cannot say proves nothing */
async function checkEmpty(chain: Chain, node: EvmNode, other: EvmNode | undefined, blockHash: Hex): Promise<void> {
  const shown = other && (await transferLogs(other, addressesOf(chain), { blockHash }).catch(orNothing));
  if (!shown?.length) return;
  throw new RpcFailed(node.name, 'eth_getLogs', 'malformed', `it leaves out what ${other?.name} shows of ${blockHash}`);
}

function orNothing(error: unknown): undefined {
  if (!(error instanceof RpcFailed)) throw error;
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
export function inOrder(logs: readonly RawLog[], node: EvmNode, asked: (log: RawLog) => boolean): readonly RawLog[] {
  if (!logs.every(asked)) throw new RpcFailed(node.name, 'eth_getLogs', 'malformed', 'logs of other blocks');
  return logs.toSorted((a, b) => Number(a.blockNumber - b.blockNumber) || a.logIndex - b.logIndex);
}
