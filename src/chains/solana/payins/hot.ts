/** Owners that the head pass has seen paid and the final one has not: those it looks at first. */

/** They stay for so long. */
const hotFor_slots = 300n;
const hotMax = 10_000;

export function createHot() {
  /** With the slot in which they were seen. */
  const seen = new Map<string, bigint>();
  return {
    add(owners: readonly string[], slot: bigint): void {
      for (const owner of owners) if (seen.size < hotMax) seen.set(owner, slot);
    },
    remove(owners: readonly string[]): void {
      for (const owner of owners) seen.delete(owner);
    },
    /** @param slot where the final pass stands */
    of(slot: bigint, max: number): readonly string[] {
      for (const [owner, at] of seen) if (slot - at > hotFor_slots) seen.delete(owner);
      return [...seen.keys()].slice(0, max);
    },
  };
}
