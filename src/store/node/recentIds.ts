/** Which events were appended lately: what idempotency without an exact version goes by. Bounded, and lost on restart. */
export interface RecentIds {
  /** An id keeps the first place it was seen at. */
  remember(id: string, stream: string, revision: number): void;
  find(id: string, stream: string): number | undefined;
  forgetAll(): void;
}

interface Place {
  readonly stream: string;
  readonly revision: number;
}

const rememberedLeast = 32_768;

/**
 * Two generations: when the younger is full it becomes the older, and what was older is forgotten at once. (Taking the
 * oldest entries out of one Map one by one would make each removal walk over those before it.)
 * @param least how many ids are remembered at any time; at most twice as many
 */
export function createRecentIds(least = rememberedLeast): RecentIds {
  let young = new Map<string, Place>();
  let old = new Map<string, Place>();
  const placeOf = (id: string): Place | undefined => young.get(id) ?? old.get(id);
  return {
    remember(id, stream, revision) {
      if (placeOf(id)) return;
      if (young.size >= least) {
        old = young;
        young = new Map();
      }
      young.set(id, { stream, revision });
    },
    find(id, stream) {
      const place = placeOf(id);
      return place?.stream === stream ? place.revision : undefined;
    },
    forgetAll() {
      young = new Map();
      old = new Map();
    },
  };
}
