/**
 * Blocks after a cursor, read from one node by their hashes. Those that were read are remembered, so that a fork is seen and what it
 * removed can be named.
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

/**
 * Nearer to the head than this, blocks are read by hash; so are those that nobody else can vouch for. A node behind a balancer may lag and
 * answer a range with nothing; asked for a hash that it lacks, it must fail (EIP-234).
 */
export const nearHead_blocks = 64n;

export interface BlocksRead {
  readonly logs: readonly TransferLog[];
  /** The blocks whose hashes are now known, oldest first; the last one is the end of what was read. */
  readonly headers: readonly Header[];
}

/** The blocks at these heights, which the node must have. @throws RpcFailed when it lacks one */
export const headersAt = (node: EvmNode, heights: readonly bigint[]): Promise<readonly Header[]> =>
  inParallel(heights, callsAtOnce, (height) => knownHeader(node, height));

/**
 * Up to `nearHead_blocks` blocks, each linked to its parent. Each pass reads their logs itself: what a node left out once is read again
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
  const last = lower(end, first + nearHead_blocks - 1n);
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

/** How many blocks a pass remembers by hash, to say which of them a fork has removed. */
const remembered_blocks = 256;
const recalled_blocks = 32;
/** How far a pass steps back when it remembers no block that is still on the chain, as after a restart. Reading again is harmless. */
const stepBack_blocks = 128n;

interface Block {
  readonly number: bigint;
  readonly hash: string;
}

interface Fork {
  /** The newest block that is still on the chain. */
  readonly from: Header;
  readonly orphaned: readonly string[];
}

/** The blocks that one pass has lately handled. They are kept in memory: after a restart, not all blocks that a fork removed can be named. */
interface Trail {
  /** As after a restart. */
  isEmpty(): boolean;
  /** After a restart: learns the blocks before a cursor that is on the node's chain. */
  recall(node: EvmNode, cursor: Cursor): Promise<void>;
  /** Blocks that follow on a cursor; what was above it is forgotten only now, so that a fork whose range failed is told of again in full. */
  add(cursor: Block, blocks: readonly Block[]): void;
  /** Finds where the node's chain left the one that this pass has followed up to `cursor`. */
  fork(node: EvmNode, cursor: Cursor): Promise<Fork>;
}

export function createTrail(): Trail {
  const hashes = new Map<bigint, string>();

  function add(cursor: Block, blocks: readonly Block[]): void {
    for (const number of hashes.keys()) if (number > cursor.number) hashes.delete(number);
    for (const { number, hash } of [cursor, ...blocks]) hashes.set(number, hash);
    for (const number of hashes.keys()) {
      if (hashes.size <= remembered_blocks) break;
      hashes.delete(number);
    }
  }

  async function newestShared(node: EvmNode, cursor: Cursor): Promise<Header> {
    const known = [...hashes].filter(([number]) => number < cursor.blockNumber).sort(([a], [b]) => Number(b - a));
    for (const [number, hash] of known) {
      // A missing answer proves nothing: a back end that lags behind its balancer's head lacks blocks that never left.
      const found = await knownHeader(node, number);
      if (found.hash === hash) return found;
    }
    const oldest = known.at(-1)?.[0] ?? cursor.blockNumber;
    return knownHeader(node, oldest > stepBack_blocks ? oldest - stepBack_blocks : 0n);
  }

  return {
    add,
    isEmpty: () => hashes.size === 0,
    async recall(node, cursor) {
      if (hashes.size > 0) return;
      const count = Number(lower(cursor.blockNumber, BigInt(recalled_blocks)));
      const heights = Array.from({ length: count }, (_, at) => cursor.blockNumber - BigInt(count - at));
      add({ number: cursor.blockNumber, hash: cursor.blockHash }, await headersAt(node, heights));
    },
    async fork(node, cursor) {
      const from = await newestShared(node, cursor);
      const left = [...hashes].filter(([number]) => number > from.number);
      return { from, orphaned: [...new Set([cursor.blockHash, ...left.map(([, hash]) => hash)])] };
    },
  };
}
