/**
 * Blocks after a cursor, read from one node by hash: a node without the block must fail (EIP-234), while it may answer a height range with
 * an empty list.
 */
import { type Hex, hexToBytes, keccak256 } from 'viem';
import type { Chain } from '../../../../domain/chains.ts';
import { higher, inParallel, lower } from '../../../lib/concurrency.ts';
import type { Cursor, Pass } from '../../ports.ts';
import type { FinalityTag } from '../config.ts';
import {
  countReceiptLogs,
  type Header,
  header,
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

// Blocks that the head watcher and the passes of a chain share, so none reads a block again. A block's hash names its
// parent, so every block linked back from a node's newest block is on that node's chain.

/** Tolerance, in seconds, for using a known block that is older than required. */
const near_s = 2;

/** A node's newest block, and the newest block of each available tag. */
export interface NodeBlocks {
  readonly latest: Header;
  readonly tagged: ReadonlyMap<FinalityTag, Header>;
}

/** Blocks of one node, never mixed with another node's. */
interface Known {
  readonly kept: number;
  readonly byHash: Map<string, Header>;
  readonly underWay: Map<string, Promise<Header>>;
  shown?: NodeBlocks;
  tagged: NodeBlocks['tagged'];
  /** Time of the block at the last query of tags. */
  tagsAt_s: number;
  readonly takenBy: Set<Pass>;
  /** Queries since this block is the newest. */
  readonly since: { latest: string; asked: Map<bigint, Promise<Header>> };
}

export interface Headers {
  /** For the watcher: queries the node. Each pass may use the result once. */
  watch(node: EvmNode): Promise<NodeBlocks>;
  /** The watcher's last result, once per pass: a pass that returns earlier than the watcher queries the node itself. */
  shownTo(pass: Pass, node: EvmNode): Promise<NodeBlocks>;
  /** The watcher's last result; undefined before the first one. */
  seen(node: EvmNode): NodeBlocks | undefined;
  /** Newest block at or below a height, among the node's known blocks, with a time of `before_s` or slightly earlier. */
  aged(node: EvmNode, atMost: bigint, before_s: number): Header | undefined;
  /** The node's block at a height, known or queried. @throws RpcFailed if it lacks the block */
  at(node: EvmNode, height: bigint): Promise<Header>;
  /**
   * The node's block at a height: one query for all callers while its newest block stays the same. @throws RpcFailed if it lacks the block
   */
  now(node: EvmNode, height: bigint): Promise<Header>;
  /** Removes a block that the node no longer returns, or not completely. */
  forget(node: EvmNode, hash: string): void;
  /** Blocks at these heights, in order, below the node's newest. @throws RpcFailed if it lacks one */
  below(node: EvmNode, latest: Header, heights: readonly bigint[]): Promise<readonly Header[]>;
}

interface HeadersOptions {
  readonly tags: readonly FinalityTag[];
  /** Minimum chain time between two queries of the tags, which move no faster. */
  readonly tagEvery_s: number;
  /** Maximum remembered blocks per node. */
  readonly kept: number;
}

export function createHeaders({ tags, tagEvery_s, kept }: HeadersOptions): Headers {
  const nodes = new Map<string, Known>();

  function knownOf({ name }: EvmNode): Known {
    const known = nodes.get(name) ?? {
      kept,
      byHash: new Map(),
      underWay: new Map(),
      tagged: new Map(),
      tagsAt_s: Number.NEGATIVE_INFINITY,
      takenBy: new Set(),
      since: { latest: '', asked: new Map() },
    };
    nodes.set(name, known);
    return known;
  }

  async function taggedBy(node: EvmNode): Promise<NodeBlocks['tagged']> {
    const asked = tags.map(async (tag) => [tag, await header(node, tag).catch(() => undefined)] as const);
    const found = await Promise.all(asked);
    return new Map(found.flatMap(([tag, block]) => (block ? [[tag, block] as const] : [])));
  }

  return {
    async watch(node) {
      const known = knownOf(node);
      // A failing tag must not hide the node's newest block.
      const latest = await knownHeader(node, 'latest');
      if (tags.length > 0 && Math.abs(latest.time_s - known.tagsAt_s) >= tagEvery_s) {
        known.tagged = await taggedBy(node);
        known.tagsAt_s = latest.time_s;
      }
      known.shown = { latest: keep(known, latest), tagged: known.tagged };
      known.takenBy.clear();
      return known.shown;
    },

    async shownTo(pass, node) {
      const known = knownOf(node);
      if (!known.shown || known.takenBy.has(pass)) {
        return { latest: keep(known, await knownHeader(node, 'latest')), tagged: new Map() };
      }
      known.takenBy.add(pass);
      return known.shown;
    },

    aged(node, atMost, before_s) {
      const { byHash } = knownOf(node);
      const old = [...byHash.values()].filter(({ number, time_s }) => number <= atMost && time_s <= before_s);
      const newest = old.reduce<Header | undefined>((a, b) => (a && a.number > b.number ? a : b), undefined);
      return newest && newest.time_s >= before_s - near_s ? newest : undefined;
    },

    async at(node, height) {
      const known = knownOf(node);
      const shown = [...known.byHash.values()].findLast(({ number }) => number === height);
      return shown ?? keep(known, await knownHeader(node, height));
    },

    seen: (node) => knownOf(node).shown,

    now(node, height) {
      const { shown, since } = knownOf(node);
      if (!shown) return knownHeader(node, height);
      if (since.latest !== shown.latest.hash) Object.assign(since, { latest: shown.latest.hash, asked: new Map() });
      const asked = since.asked.get(height) ?? knownHeader(node, height);
      since.asked.set(height, asked);
      asked.catch(() => since.asked.delete(height));
      return asked;
    },

    forget: (node, hash) => void knownOf(node).byHash.delete(hash),

    async below(node, latest, heights) {
      const known = knownOf(node);
      await closeGap(node, known, latest);
      const line = lineOf(known, latest, heights[0] ?? latest.number);
      return inParallel(heights, callsAtOnce, async (height) => line.get(height) ?? ask(node, known, latest, height));
    },
  };
}

function keep({ byHash, kept }: Known, block: Header): Header {
  byHash.set(block.hash, block);
  for (const oldest of byHash.keys()) {
    if (byHash.size <= kept) break;
    byHash.delete(oldest);
  }
  return block;
}

/** The block and its known ancestors, down to a height or to an unknown parent. */
function lineOf({ byHash }: Known, block: Header, lowest: bigint): ReadonlyMap<bigint, Header> {
  const line = new Map([[block.number, block]]);
  for (let child = block; child.number > lowest; ) {
    const parent = byHash.get(child.parentHash);
    if (parent?.number !== child.number - 1n) break;
    line.set(parent.number, parent);
    child = parent;
  }
  return line;
}

/** Reads the blocks between the last read and the newest block, to link them. Leaves missing blocks to the passes that need them. */
async function closeGap(node: EvmNode, known: Known, latest: Header): Promise<void> {
  const before = [...known.byHash.values()].map(({ number }) => number).filter((number) => number < latest.number);
  const newest = before.reduce(higher, -1n);
  const missing = Number(latest.number - newest - 1n);
  if (newest < 0n || missing >= (takesTogether(node) ? togetherFrom_blocks : known.kept / 2)) return;
  const heights = Array.from({ length: missing }, (_, at) => newest + 1n + BigInt(at));
  await inParallel(heights, callsAtOnce, (height) => ask(node, known, latest, height)).catch((error: unknown) => {
    // Does not wait twice for an unreachable node.
    if (!(error instanceof RpcFailed) || error.kind === 'unreachable') throw error;
  });
}

/** Passes with the same newest block share one query for another block. */
function ask(node: EvmNode, known: Known, latest: Header, height: bigint): Promise<Header> {
  const key = `${latest.hash} ${height}`;
  const asked =
    known.underWay.get(key) ??
    knownHeader(node, height)
      .then((found) => keep(known, found))
      .finally(() => known.underWay.delete(key));
  known.underWay.set(key, asked);
  return asked;
}
