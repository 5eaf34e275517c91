/** Owners that looks begin with, for a while. */

interface HotOptions {
  /** They stay for so long. */
  readonly for_slots: bigint;
  /** Beyond so many, more are passed over. */
  readonly max: number;
}

export type Hot = ReturnType<typeof createHot>;

export function createHot({ for_slots, max: hotMax }: HotOptions) {
  /** With the slot in which they were seen. */
  const seen = new Map<string, bigint>();
  return {
    add(owners: readonly string[], slot: bigint): void {
      for (const owner of owners) if (seen.size < hotMax) seen.set(owner, slot);
    },
    remove(owners: readonly string[]): void {
      for (const owner of owners) seen.delete(owner);
    },
    /** Those that were looked at in vain come after the others from now on. */
    putBack(owners: readonly string[]): void {
      for (const owner of owners) {
        const slot = seen.get(owner);
        if (slot !== undefined && seen.delete(owner)) seen.set(owner, slot);
      }
    },
    /** @param slot where the pass stands */
    of(slot: bigint, max: number): readonly string[] {
      for (const [owner, at] of seen) if (slot - at > for_slots) seen.delete(owner);
      return [...seen.keys()].slice(0, max);
    },
  };
}
