import {
  bucketOf,
  type KeptLeaf,
  type Subtree,
  TreeMoved,
  type TreeProgress,
  type TreeStore,
} from '../../commands/heads/tree.ts';

interface Kept {
  readonly leaves: ReadonlyMap<string, KeptLeaf>;
  readonly parts: ReadonlyMap<number, Subtree>;
  readonly progress: TreeProgress | null;
}

/** The tree in memory, for simulations and tests: same port, same semantics, nothing durable. */
export function memoryTree(): TreeStore {
  let kept: Kept = { leaves: new Map(), parts: new Map(), progress: null };
  let turn: Promise<unknown> = Promise.resolve();

  const leavesIn = ({ leaves }: Kept, buckets: readonly number[]): readonly KeptLeaf[] => {
    const wanted = new Set(buckets);
    return [...leaves.values()].filter(({ key }) => wanted.has(bucketOf(key)));
  };

  return {
    progress: async () => kept.progress,
    parts: async () => kept.parts,
    leavesIn: async (buckets) => leavesIn(kept, buckets),
    change(from, work) {
      const changed = turn.then(async () => {
        if (kept.progress?.position !== from?.position) throw new TreeMoved();
        let next = kept;
        const result = await work({
          leavesIn: async (buckets) => leavesIn(next, buckets),
          async put(leaves, parts) {
            const named = leaves.map((leaf) => [leaf.key.toString('hex'), leaf] as const);
            next = { ...next, leaves: new Map([...next.leaves, ...named]), parts: new Map([...next.parts, ...parts]) };
          },
          async moveTo(progress) {
            next = { ...next, progress };
          },
        });
        kept = next;
        return result;
      });
      turn = changed.catch(() => {});
      return changed;
    },
    async clear() {
      kept = { leaves: new Map(), parts: new Map(), progress: null };
    },
  };
}
