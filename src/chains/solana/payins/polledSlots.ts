/** The newest slots that the watcher of heads was told, node by node: the look that it wakes does not ask again. */
import type { SolanaNode } from '../rpc.ts';

export interface PolledSlots {
  tell(node: SolanaNode, slot: bigint): void;
  /** What the node said last and no look has used; undefined when it has said nothing since. */
  take(node: SolanaNode): bigint | undefined;
}

export function createPolledSlots(): PolledSlots {
  const told = new Map<string, bigint>();
  return {
    tell: ({ name }, slot) => void told.set(name, slot),
    take({ name }) {
      const slot = told.get(name);
      told.delete(name);
      return slot;
    },
  };
}
