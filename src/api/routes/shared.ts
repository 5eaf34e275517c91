import { type Instant, plus } from '../../../domain/time.ts';
import type { HttpDeps } from '../deps.ts';

/** One answer for all who ask within its life, those who ask while it is being made among them. A failure is forgotten at once. */
export function asked<V>(
  ask: () => Promise<V>,
  { clock, life_ms }: { readonly clock: HttpDeps['clock']; readonly life_ms: number },
): () => Promise<V> {
  let last: { readonly answer: Promise<V>; until: Instant | null } | undefined;
  return () => {
    if (last && (last.until === null || clock.now() < last.until)) return last.answer;
    const mine = { answer: ask(), until: null as Instant | null };
    last = mine;
    mine.answer.then(
      () => {
        mine.until = plus(clock.now(), life_ms);
      },
      () => {
        if (last === mine) last = undefined;
      },
    );
    return mine.answer;
  };
}
