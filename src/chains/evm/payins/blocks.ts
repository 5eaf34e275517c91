/**
 * Blocks after a cursor, read from one node: by block hash near the head, where nodes differ, and by wide ranges far behind it. Those
 * that were read are remembered, so that a fork is seen and what it removed can be named.
 */
import type { Chain } from '../../../../domain/chains.ts';
import { lower } from '../../bigints.ts';
import { inParallel } from '../../inParallel.ts';
import type { Cursor, TransferLog } from '../../ports.ts';
import { type Header, knownHeader, type RawLog, transferLogs } from '../reads.ts';
import { type EvmNode, RpcFailed } from '../rpc.ts';
import { callsAtOnce } from './headers.ts';
import { toTransferLog } from './transfers.ts';

/**
 * Nearer to the head than this, blocks are read by hash. A node behind a balancer may lag by some blocks and answer a range with
 * nothing; asked for a hash that it lacks, it must fail (EIP-234).
 */
export const nearHead_blocks = 64n;
/** After so many good answers in a row a wider range is tried. */
const goodEnough = 8;

export interface BlocksRead {
  readonly logs: readonly TransferLog[];
  /** The blocks whose hashes are now known, oldest first; the last one is the end of what was read. */
  readonly headers: readonly Header[];
}

/** The blocks at these heights, which the node must have. @throws RpcFailed when it lacks one */
const headersAt = (node: EvmNode, heights: readonly bigint[]): Promise<readonly Header[]> =>
  inParallel(heights, callsAtOnce, (height) => knownHeader(node, height));

/**
 * Up to `nearHead_blocks` blocks, each linked to its parent. Each pass reads their logs itself: what a node left out once is read again
 * before it is final.
 * @returns undefined when the first is no child of the cursor: a fork just came
 */
export async function readByHash(
  chain: Chain,
  node: EvmNode,
  cursor: Cursor,
  end: bigint,
  headersAt: (heights: readonly bigint[]) => Promise<readonly Header[]>,
): Promise<BlocksRead | undefined> {
  const first = cursor.blockNumber + 1n;
  const last = lower(end, first + nearHead_blocks - 1n);
  const heights = Array.from({ length: Number(last - first) + 1 }, (_, at) => first + BigInt(at));
  const headers = linked(cursor.blockHash, await headersAt(heights));
  if (headers.length === 0) return undefined;

  const logs = await inParallel(headers, callsAtOnce, async ({ hash, time_s }) => {
    const raw = await transferLogs(node, addresses(chain), { blockHash: hash });
    return inOrder(raw, node, (log) => log.blockHash === hash).flatMap(
      (log) => toTransferLog(chain, log, time_s) ?? [],
    );
  });
  return { headers, logs: logs.flat() };
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

/** How many blocks a log query spans: halved when a node refuses it or takes too long, doubled after a while without. */
export interface RangeSize {
  blocks: bigint;
  good: number;
  readonly most: bigint;
}

/** One wide range after the cursor, ending at `end` at most. */
export async function readByRange(
  chain: Chain,
  node: EvmNode,
  cursor: Cursor,
  end: bigint,
  size: RangeSize,
): Promise<BlocksRead> {
  const from = cursor.blockNumber + 1n;
  for (;;) {
    const to = lower(end, from + size.blocks - 1n);
    // Its hash is read before the logs: if a fork comes between the two, the next scan sees that the hash is no longer there.
    const last = await knownHeader(node, to);
    try {
      const raw = await transferLogs(node, addresses(chain), { from, to });
      const within = inOrder(raw, node, (log) => log.blockNumber >= from && log.blockNumber <= to);
      const logs = await withTimes(chain, node, within);
      widen(size);
      return { headers: [last], logs };
    } catch (error) {
      if (!(error instanceof RpcFailed) || error.kind === 'malformed' || size.blocks === 1n) throw error;
      size.blocks /= 2n;
      size.good = 0;
    }
  }
}

function widen(size: RangeSize): void {
  size.good++;
  if (size.good < goodEnough) return;
  size.good = 0;
  size.blocks = lower(size.most, size.blocks * 2n);
}

async function withTimes(chain: Chain, node: EvmNode, logs: readonly RawLog[]): Promise<readonly TransferLog[]> {
  const untimed = new Set(logs.filter((log) => log.blockTime_s === undefined).map((log) => log.blockNumber));
  const headers = await headersAt(node, [...untimed]);
  const times = new Map(headers.map(({ number, time_s }) => [number, time_s]));
  return logs.flatMap((log) => {
    const time_s = log.blockTime_s ?? times.get(log.blockNumber);
    return time_s === undefined ? [] : (toTransferLog(chain, log, time_s) ?? []);
  });
}

const addresses = (chain: Chain): readonly string[] => chain.tokens.map((token) => token.address);

/** Sorts logs as the chain has them. @throws RpcFailed when the node answered with logs that were not asked for */
function inOrder(logs: readonly RawLog[], node: EvmNode, asked: (log: RawLog) => boolean): readonly RawLog[] {
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
