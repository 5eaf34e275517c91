/** One blockhash for each slot. Transactions may use the last 150. Another fork has other ones. */
import { createHash } from 'node:crypto';
import { getBase58Decoder } from '@solana/kit';
import { blockhashAge_blocks } from './commitments.ts';

/** From this slot on, blocks are those of a later fork. */
export interface ForkPoint {
  readonly from: number;
}

export interface Blockhashes {
  at(slot: number): string;
  /** The slot of a hash that a block in slot `head` may still refer to. */
  find(hash: string, head: number): number | undefined;
  /** The chain has reached a slot. */
  reach(slot: number): void;
  /** From this slot on, the chain has other blocks. */
  fork(from: number): void;
  forks(): readonly ForkPoint[];
}

const base58 = getBase58Decoder();
/** More hashes are kept than are valid, for nodes that lag behind. */
const remembered_slots = 512;

/** @param genesis identifies the chain: hashes of one mean nothing on another */
export function createBlockhashes(genesis: string, known: readonly ForkPoint[] = []): Blockhashes {
  const forks: ForkPoint[] = [...known];
  const slots = new Map<string, number>();
  let reached = 0;

  const at = (slot: number): string => {
    const fork = forks.findLastIndex(({ from }) => from <= slot) + 1;
    return base58.decode(createHash('sha256').update(`${genesis}/${fork}/${slot}`).digest());
  };

  const self: Blockhashes = {
    at,
    find(hash, head) {
      const slot = slots.get(hash);
      return slot !== undefined && slot <= head && head - slot <= blockhashAge_blocks ? slot : undefined;
    },
    reach(slot) {
      for (let next = Math.max(reached + 1, slot - remembered_slots); next <= slot; next++) slots.set(at(next), next);
      reached = Math.max(reached, slot);
      for (const [hash, old] of slots) {
        if (old > reached - remembered_slots) break;
        slots.delete(hash);
      }
    },
    fork(from) {
      for (const [hash, slot] of slots) if (slot >= from) slots.delete(hash);
      forks.push({ from });
      const head = reached;
      reached = Math.min(reached, from - 1);
      self.reach(head);
    },
    forks: () => forks,
  };
  return self;
}
