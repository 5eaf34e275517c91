/**
 * Blocks that the head watcher and the passes of a chain share, so none reads a block again. A block's hash names its parent, so every
 * block linked back from a node's newest block is on that node's chain.
 */
import { higher, inParallel } from '../../../lib/concurrency.ts';
import type { Pass } from '../../ports.ts';
import type { FinalityTag } from '../config.ts';
import { type Header, header, knownHeader } from '../reads.ts';
import { type EvmNode, RpcFailed } from '../rpc.ts';
import { callsAtOnce, takesTogether, togetherFrom_blocks } from './blocks.ts';

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
