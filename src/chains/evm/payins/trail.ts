import { lower } from '../../bigints.ts';
import type { Cursor } from '../../ports.ts';
import { type Header, knownHeader } from '../reads.ts';
import type { EvmNode } from '../rpc.ts';
import { headersAt } from './ranges.ts';

/** How many blocks a pass remembers by hash, to say which of them a fork has removed. */
const remembered_blocks = 256;
const recalled_blocks = 32;
/** How far a pass steps back when it remembers no block that is still on the chain, as after a restart. Reading again is harmless. */
const stepBack_blocks = 128n;

interface Block {
  readonly number: bigint;
  readonly hash: string;
}

export interface Fork {
  /** The newest block that is still on the chain. */
  readonly from: Header;
  readonly orphaned: readonly string[];
}

/** The blocks that one pass has lately handled. They are kept in memory: after a restart, not all blocks that a fork removed can be named. */
export interface Trail {
  /** As after a restart. */
  isEmpty(): boolean;
  /** After a restart: learns the blocks before a cursor that is on the node's chain. */
  recall(node: EvmNode, cursor: Cursor): Promise<void>;
  add(blocks: readonly Block[]): void;
  /** Finds where the node's chain left the one that this pass has followed up to `cursor`, and forgets what is above. */
  fork(node: EvmNode, cursor: Cursor): Promise<Fork>;
}

export function createTrail(): Trail {
  const hashes = new Map<bigint, string>();

  function add(blocks: readonly Block[]): void {
    for (const { number, hash } of blocks) hashes.set(number, hash);
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
      add(await headersAt(node, heights));
    },
    async fork(node, cursor) {
      const from = await newestShared(node, cursor);
      const left = [...hashes].filter(([number]) => number > from.number);
      for (const [number] of left) hashes.delete(number);
      return { from, orphaned: [...new Set([cursor.blockHash, ...left.map(([, hash]) => hash)])] };
    },
  };
}
