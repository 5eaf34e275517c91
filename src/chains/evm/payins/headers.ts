/**
 * What the watcher of heads and the passes of a chain know of its blocks together, so that none asks a node for what another has just
 * read. A block's hash names its parent: from a node's newest block back, each block that is known by its hash is on that node's chain.
 */
import { higher, inParallel } from '../../../lib/inParallel.ts';
import type { Pass } from '../../ports.ts';
import type { FinalityTag } from '../config.ts';
import { type Header, header, knownHeader } from '../reads.ts';
import { type EvmNode, RpcFailed } from '../rpc.ts';
import { callsAtOnce, takesTogether, togetherFrom_blocks } from './blocks.ts';

/** How much older than it must be a block may be that is known already. */
const near_s = 2;

/** A node's newest block, and the newest of each tag that it could tell. */
export interface Shown {
  readonly latest: Header;
  readonly tagged: ReadonlyMap<FinalityTag, Header>;
}

/** What one node has said: what another says is never mixed with it. */
interface Known {
  readonly kept: number;
  readonly byHash: Map<string, Header>;
  readonly underWay: Map<string, Promise<Header>>;
  shown?: Shown;
  tagged: Shown['tagged'];
  /** The time of the block with which they were asked for. */
  tagsAt_s: number;
  readonly takenBy: Set<Pass>;
  /** What was asked for since this block is the newest. */
  readonly since: { latest: string; asked: Map<bigint, Promise<Header>> };
}

export interface Headers {
  /** For the watcher: asks the node. The answer is there for each pass to take. */
  watch(node: EvmNode): Promise<Shown>;
  /** What the watcher saw last, once for each pass: one that comes again before the watcher does asks the node itself. */
  shownTo(pass: Pass, node: EvmNode): Promise<Shown>;
  /** What the watcher saw last; undefined before it saw anything. */
  seen(node: EvmNode): Shown | undefined;
  /** A block at or below a height whose time is `before_s` or a little earlier, among those that the node has shown; the newest such. */
  aged(node: EvmNode, atMost: bigint, before_s: number): Header | undefined;
  /** The node's block at a height, as it showed it last or shows it now. @throws RpcFailed when it lacks it */
  at(node: EvmNode, height: bigint): Promise<Header>;
  /** The node's block at a height: asked once for all that want to know while its newest stands. @throws RpcFailed when it lacks it */
  now(node: EvmNode, height: bigint): Promise<Header>;
  /** A block that the node does not show any more, or not in full. */
  forget(node: EvmNode, hash: string): void;
  /** The blocks at these heights, in order, which the node must have below its newest. @throws RpcFailed when it lacks one */
  below(node: EvmNode, latest: Header, heights: readonly bigint[]): Promise<readonly Header[]>;
}

interface HeadersOptions {
  readonly tags: readonly FinalityTag[];
  /** Tags move no faster than this: they are asked for again when so much of the chain's time has passed. */
  readonly tagEvery_s: number;
  /** How many of each node's blocks are remembered. */
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

  async function taggedBy(node: EvmNode): Promise<Shown['tagged']> {
    const asked = tags.map(async (tag) => [tag, await header(node, tag).catch(() => undefined)] as const);
    const found = await Promise.all(asked);
    return new Map(found.flatMap(([tag, block]) => (block ? [[tag, block] as const] : [])));
  }

  return {
    async watch(node) {
      const known = knownOf(node);
      // A tag that the node cannot tell must not hide its newest block.
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

/** The block and those known before it, down to a height or to where one is not known. */
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

/** Asks for what has come since blocks were read last, so that those join on to the newest. What a node lacks is left to who needs it. */
async function closeGap(node: EvmNode, known: Known, latest: Header): Promise<void> {
  const before = [...known.byHash.values()].map(({ number }) => number).filter((number) => number < latest.number);
  const newest = before.reduce(higher, -1n);
  const missing = Number(latest.number - newest - 1n);
  if (newest < 0n || missing >= (takesTogether(node) ? togetherFrom_blocks : known.kept / 2)) return;
  const heights = Array.from({ length: missing }, (_, at) => newest + 1n + BigInt(at));
  await inParallel(heights, callsAtOnce, (height) => ask(node, known, latest, height)).catch((error: unknown) => {
    // A node that does not answer at all is not waited for twice.
    if (!(error instanceof RpcFailed) || error.kind === 'unreachable') throw error;
  });
}

/** Passes that see the same newest block ask for another one together. */
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
