/** Which events were appended lately: what idempotency without an exact version goes by. Bounded, and lost on restart. */
export interface RecentIds {
  /** An id keeps the first place it was seen at. */
  remember(id: string, stream: string, revision: number): void;
  find(id: string, stream: string): number | undefined;
  forgetAll(): void;
}

const rememberedMost = 65_536;

export function createRecentIds(most = rememberedMost): RecentIds {
  const places = new Map<string, { readonly stream: string; readonly revision: number }>();
  return {
    remember(id, stream, revision) {
      if (places.has(id)) return;
      places.set(id, { stream, revision });
      if (places.size > most) {
        const [oldest] = places.keys();
        if (oldest !== undefined) places.delete(oldest);
      }
    },
    find(id, stream) {
      const place = places.get(id);
      return place?.stream === stream ? place.revision : undefined;
    },
    forgetAll: () => places.clear(),
  };
}
