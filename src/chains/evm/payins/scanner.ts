/** Advances the passes of one chain, each with its own cursor. */
import { type Chain, chainOf } from '../../../../domain/chains.ts';
import { epochMs, instant } from '../../../../domain/time.ts';
import { higher, lower } from '../../../lib/concurrency.ts';
import { isShared, toldByEnough } from '../../node/agreement.ts';
import type { Cursor, Ingester, Pass, ScannedRange, TransferLog } from '../../ports.ts';
import type { EvmChainConfig } from '../config.ts';
import { finalHeight } from '../finality.ts';
import { type Header, header, knownHeader } from '../reads.ts';
import { type EvmNode, type EvmRpc, RpcFailed } from '../rpc.ts';
import {
  type Block,
  type BlocksRead,
  type Headers,
  headersAt,
  readByHash,
  takesTogether,
  togetherFrom_blocks,
} from './blocks.ts';
import { narrow, type RangeSize, readByRange, spanOf, type Windows, widen, windowsOf } from './ranges.ts';
import { type RangeActivity, readTogether } from './together.ts';

const firstRange_blocks = 500n;

export interface RangeReadInput {
  readonly node: EvmNode;
  /** The other nodes of the chain. */
  readonly others: readonly EvmNode[];
  readonly latest: Header;
  readonly cursor: Cursor;
  /** End of the pass on this node. */
  readonly end: bigint;
  readonly recent: RecentBlocks;
}

interface LooksOptions {
  readonly chain: Chain;
  readonly windows: Windows;
  readonly headers: Headers;
  readonly rangeBlocksMax: number;
}

/** Result of a read: `forked` if the cursor's block is not on the node's chain; undefined if a fork happened during the read. */
export type RangeReadResult = BlocksRead | 'forked' | undefined;

/** Reads the new blocks after a pass's cursor: chooses a method, and checks that the cursor's own block is still on the chain. */
export function createRangeReader({
  chain,
  windows,
  headers,
  rangeBlocksMax,
}: LooksOptions): (look: RangeReadInput) => Promise<RangeReadResult> {
  const most = BigInt(rangeBlocksMax);
  const size: RangeSize = { blocks: lower(firstRange_blocks, most), good: 0, most, alone: 0 };
  const liveliness = new Map<string, RangeActivity>();

  function livelinessOf({ node, cursor }: RangeReadInput): RangeActivity {
    const key = `${cursor.pass} ${node.name}`;
    const known = liveliness.get(key) ?? { busy: 0 };
    liveliness.set(key, known);
    return known;
  }

  /** Reads in one request, in the widest ranges that the node accepts. */
  async function together(look: RangeReadInput, isNear: boolean): Promise<RangeReadResult | 'oneByOne'> {
    const { node, others, latest, cursor, end } = look;
    for (;;) {
      const to = lower(end, cursor.blockNumber + spanOf(size, node));
      if (!takesTogether(node) || to - cursor.blockNumber < togetherFrom_blocks) return 'oneByOne';
      const last = to === latest.number ? latest : await headers.at(node, to);
      const range = { cursor, end: last, headersAt: headersOf(look, isNear) };
      const found = await readTogether(chain, node, others, range, livelinessOf(look)).catch((error: unknown) => {
        if (error instanceof RpcFailed) headers.forget(node, last.hash);
        throw error;
      });
      if (found === undefined) return 'oneByOne';
      if (found instanceof RpcFailed) {
        narrow(size, to - cursor.blockNumber, node, found);
        continue;
      }
      widen(size);
      return found;
    }
  }

  /** Old blocks are not cached: they would displace those that the watcher and the passes share. */
  const headersOf =
    ({ node, latest }: RangeReadInput, isNear: boolean) =>
    (heights: readonly bigint[]) =>
      isNear ? headers.below(node, latest, heights) : headersAt(node, heights);

  const byHash = (look: RangeReadInput, isNear: boolean) =>
    readByHash(chain, look.node, look.others, look, headersOf(look, isNear));

  return async (look) => {
    const { node, others, latest, cursor, end, recent } = look;
    const far = latest.number - windows.near_blocks;
    const isNear = cursor.blockNumber >= far;
    const learns = cursor.pass === 'head' && recent.isEmpty();
    if (isNear && !learns) {
      const found = await together(look, isNear);
      if (found !== 'oneByOne') return found;
      // Blocks linked to the cursor's by parent hash prove that it is on the chain, so it is not queried.
      const followed = recent.isEmpty() ? undefined : await byHash(look, isNear);
      if (followed) return followed;
    }
    const there = await knownHeader(node, cursor.blockNumber);
    if (there.hash !== cursor.blockHash) return 'forked';
    if (cursor.pass === 'head') await recent.recall(node, cursor);
    const alike = isNear ? undefined : await readByRange(chain, node, others, { cursor, end: lower(end, far) }, size);
    if (alike) return alike;
    const found =
      isNear && !learns ? 'oneByOne' : await together(isNear ? look : { ...look, end: lower(end, far) }, isNear);
    return found === 'oneByOne' ? byHash(look, isNear) : found;
  };
}

interface RangeFound {
  readonly range: ScannedRange;
  /** True if the pass has reached this node's end. */
  readonly isEnd: boolean;
}

/** Maximum ranges of one `scan` call, so its caller regains control during a long catch-up. */
const rangesMax = 50;
interface EvmScanner extends Pick<Ingester, 'start' | 'cursorAt' | 'scan'> {
  /** Highest block that any pass has read. */
  reached(): bigint;
  /** Name of the last followed node. */
  followed(): string | undefined;
}

/**
 * Advances the passes of one chain. A pass only uses a node whose chain extends beyond the cursor, so two nodes with different heads do not
 * move it back and forth; each range comes from one node.
 */
export function createScanner(
  config: EvmChainConfig,
  rpc: EvmRpc,
  { headers, shown }: { readonly headers: Headers; readonly shown: ShownBlocks },
): EvmScanner {
  const chain = chainOf(config.chainId);
  const windows = windowsOf(chain);
  const recentBlocks = {
    head: createRecentBlocks(windows),
    final: createRecentBlocks(windows),
    finalLarge: createRecentBlocks(windows),
  };
  const look = createRangeReader({ chain, windows, headers, rangeBlocksMax: config.rangeBlocksMax });
  let reached = 0n;
  let followed: string | undefined;

  async function endOf(node: EvmNode, pass: Pass): Promise<{ latest: Header; end: bigint }> {
    const { latest, tagged } = await headers.shownTo(pass, node);
    if (pass === 'head') return { latest, end: latest.number };
    const aged = (atMost: bigint, before_s: number) => headers.aged(node, atMost, before_s);
    return { latest, end: await finalHeight(node, latest, config.depths[pass], { tagged, aged }) };
  }

  async function nextRange(node: EvmNode, cursor: Cursor, signal: AbortSignal): Promise<RangeFound | undefined> {
    const { latest, end } = await endOf(node, cursor.pass);
    if (end <= cursor.blockNumber) return undefined;
    const recent = recentBlocks[cursor.pass];
    const others = rpc.nodes.map((connect) => connect(signal)).filter(({ name }) => name !== node.name);
    const read = await look({ node, others, latest, cursor, end, recent });
    if (read === undefined) return undefined;
    if (read === 'forked') {
      const { from, orphaned } = await recent.fork(node, cursor);
      return { range: { logs: [], orphaned, next: cursorAt(cursor, from) }, isEnd: false };
    }
    const { logs, unreadable, blocks, last } = read;
    if (cursor.pass !== 'head') await mustBeShared(rpc, node, last, signal);
    if (cursor.pass === 'head') followed = node.name;
    shown.show(node, cursor.pass, logs);
    recent.add({ number: cursor.blockNumber, hash: cursor.blockHash }, blocks);
    const range = { logs, orphaned: [], ...(unreadable.length > 0 && { unreadable }), next: cursorAt(cursor, last) };
    return { range, isEnd: last.number === end };
  }

  return {
    reached: () => reached,
    followed: () => followed,

    async start(pass, at, signal) {
      // A start block that is too late would hide earlier payins; one that is too early only costs time.
      const told = await toldByEnough(
        rpc,
        async (node) => {
          const { end } = await endOf(node, pass);
          const newest = await knownHeader(node, higher(end, 0n));
          return blockAt(node, newest, epochMs(at) / 1_000);
        },
        signal,
      );
      const earliest = told.reduce((a, b) => (b.number < a.number ? b : a));
      return cursorAt({ chainId: chain.id, pass }, earliest);
    },

    // One node suffices: the operator chose the height, and a block that no other node has is found to have left.
    async cursorAt(pass, blockNumber, signal) {
      const found = await rpc.answer((node) => knownHeader(node, blockNumber), signal);
      return cursorAt({ chainId: chain.id, pass }, found);
    },

    async *scan(from, signal) {
      let cursor = from;
      for (let ranges = 0; ranges < rangesMax; ranges++) {
        const found = await rpc.firstAnswer((node) => nextRange(node, cursor, signal), signal);
        if (!found) return;
        cursor = found.range.next;
        reached = higher(reached, cursor.blockNumber);
        yield found.range;
        if (found.isEnd) return;
      }
    },
  };
}

/** @throws RpcFailed if other nodes answer and none has the block */
async function mustBeShared(rpc: EvmRpc, node: EvmNode, { number, hash }: Header, signal: AbortSignal): Promise<void> {
  if (await isShared(rpc, node, async (other) => (await header(other, number))?.hash === hash, signal)) return;
  throw new RpcFailed(node.name, 'eth_getBlockByNumber', 'refused', `no other node shows block ${number} as ${hash}`);
}

/** Last block with a time at or before `at_s`, between genesis and `end`; genesis if that is later. */
async function blockAt(node: EvmNode, end: Header, at_s: number): Promise<Header> {
  if (end.time_s <= at_s) return end;
  let low = await knownHeader(node, 0n);
  let high = end.number;
  while (high - low.number > 1n) {
    const middle = await knownHeader(node, (low.number + high) / 2n);
    if (middle.time_s <= at_s) low = middle;
    else high = middle.number;
  }
  return low;
}

const cursorAt = (cursor: Pick<Cursor, 'chainId' | 'pass'>, block: Header): Cursor => ({
  chainId: cursor.chainId,
  pass: cursor.pass,
  blockNumber: block.number,
  blockHash: block.hash,
  chainTime: instant(block.time_s * 1_000),
});

/** Number of blocks read after a restart: all of the newest, the others at a distance. */
const recalled = 32;
const dense = 16;

interface Fork {
  /** Newest block that is still on the chain. */
  readonly from: Header;
  readonly orphaned: readonly string[];
}

/** Blocks that one pass handled last, in memory. After a restart, some blocks that a fork removed cannot be named. */
export interface RecentBlocks {
  /** True after a restart. */
  isEmpty(): boolean;
  /** After a restart: reads the blocks before a cursor that is on the node's chain. */
  recall(node: EvmNode, cursor: Cursor): Promise<void>;
  /** Adds blocks after a cursor and drops later ones only now, so a fork whose range failed is reported in full again. */
  add(cursor: Block, blocks: readonly Block[]): void;
  /** Finds the fork point between the node's chain and the one that this pass has followed up to `cursor`. */
  fork(node: EvmNode, cursor: Cursor): Promise<Fork>;
}

export function createRecentBlocks({ remembered_blocks, stepBack_blocks, recallStep_blocks }: Windows): RecentBlocks {
  const hashes = new Map<bigint, string>();

  function add(cursor: Block, blocks: readonly Block[]): void {
    for (const number of hashes.keys()) if (number > cursor.number) hashes.delete(number);
    for (const { number, hash } of [cursor, ...blocks]) hashes.set(number, hash);
    const newest = [cursor, ...blocks].map(({ number }) => number).reduce(higher);
    for (const number of hashes.keys()) if (number < newest - remembered_blocks) hashes.delete(number);
  }

  /** Binary search: handled blocks are one chain, shared below the fork and not above it. */
  async function newestShared(node: EvmNode, cursor: Cursor): Promise<Header> {
    const known = [...hashes].filter(([number]) => number < cursor.blockNumber).sort(([a], [b]) => Number(a - b));
    let shared: Header | undefined;
    let [low, high] = [0, known.length - 1];
    while (low <= high) {
      // Tries the nearest block first: forks are short.
      const at = shared || high < known.length - 1 ? Math.floor((low + high) / 2) : high;
      const [number = 0n, hash] = known[at] ?? [];
      // A missing answer proves nothing: a lagging back end lacks blocks that never left the chain.
      const found = await knownHeader(node, number);
      if (found.hash === hash) [shared, low] = [found, at + 1];
      else high = at - 1;
    }
    const oldest = known[0]?.[0] ?? cursor.blockNumber;
    return shared ?? knownHeader(node, oldest > stepBack_blocks ? oldest - stepBack_blocks : 0n);
  }

  return {
    add,
    isEmpty: () => hashes.size === 0,
    async recall(node, cursor) {
      if (hashes.size > 0) return;
      const back = (at: number) => BigInt(Math.min(at, dense)) + recallStep_blocks * BigInt(Math.max(at - dense, 0));
      const all = Array.from({ length: recalled }, (_, at) => cursor.blockNumber - back(recalled - at));
      const heights = all.filter((height) => height >= 0n);
      add({ number: cursor.blockNumber, hash: cursor.blockHash }, await headersAt(node, heights));
    },
    async fork(node, cursor) {
      const from = await newestShared(node, cursor);
      const left = [...hashes].filter(([number]) => number > from.number);
      return { from, orphaned: [...new Set([cursor.blockHash, ...left.map(([, hash]) => hash)])] };
    },
  };
}

export interface ShownBlock {
  readonly hash: string;
  readonly time_s: number;
}

/** Blocks of a pass's latest range from a node, which were on the node's chain during that read. Earlier ranges are not kept. */
export interface ShownBlocks {
  show(node: EvmNode, pass: Pass, logs: readonly TransferLog[]): void;
  /** Undefined if the latest range had no transfer at that height. */
  at(node: EvmNode, pass: Pass, height: bigint): ShownBlock | undefined;
}

/** Remembers, for each node, the blocks of the transfers that a pass has just read. */
export function createShownBlocks(): ShownBlocks {
  const latest = new Map<string, ReadonlyMap<bigint, ShownBlock>>();
  const keyOf = ({ name }: EvmNode, pass: Pass) => `${pass} ${name}`;
  return {
    show(node, pass, logs) {
      const blocks = logs.map(
        ({ blockNumber, blockHash, blockTime }) =>
          [blockNumber, { hash: blockHash, time_s: epochMs(blockTime) / 1_000 }] as const,
      );
      latest.set(keyOf(node, pass), new Map(blocks));
    },
    at: (node, pass, height) => latest.get(keyOf(node, pass))?.get(height),
  };
}
