/** The blocks that a pass handled last. They reveal a fork, and name the blocks that the fork removed. */
import { epochMs } from '../../../../domain/time.ts';
import { higher } from '../../../lib/inParallel.ts';
import type { Cursor, Pass, TransferLog } from '../../ports.ts';
import { type Header, knownHeader } from '../reads.ts';
import type { EvmNode } from '../rpc.ts';
import { type Block, headersAt } from './blocks.ts';
import type { Windows } from './ranges.ts';

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
