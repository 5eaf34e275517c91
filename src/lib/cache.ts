/** A look-up that is remembered for a moment, so that a burst of requests asks once. */
import { type Instant, plus } from '../../domain/time.ts';

/** Only for facts that may be this much older than the request. Settings are not among them. */
const cacheLife_ms = 500;
const cachedMax = 10_000;

/** Remembers found answers for `cacheLife_ms`; those who ask at the same time share one look-up. */
export function briefly<V>(
  find: (key: string) => Promise<V | null>,
  clock: { now(): Instant },
): (key: string) => Promise<V | null> {
  const entries = new Map<string, { readonly answer: Promise<V | null>; readonly until: Instant }>();

  return (key) => {
    const now = clock.now();
    const known = entries.get(key);
    if (known && now < known.until) return known.answer;
    const answer = find(key);
    entries.delete(key);
    entries.set(key, { answer, until: plus(now, cacheLife_ms) });
    if (entries.size > cachedMax) dropOldest();
    const forget = () => {
      if (entries.get(key)?.answer === answer) entries.delete(key);
    };
    answer.then((found) => {
      if (found === null) forget();
    }, forget);
    return answer;
  };

  function dropOldest(): void {
    const oldest = entries.keys().next();
    if (!oldest.done) entries.delete(oldest.value);
  }
}
