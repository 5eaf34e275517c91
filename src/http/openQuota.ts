/** How many payments that strangers created may be open in an app at a time. */
import type { HttpDeps } from './deps.ts';
import { rateLimited } from './rates.ts';
import { asked } from './shared.ts';

/** An app's open payments are counted once in this time, however many are created; those created here meanwhile are added. */
const countLife_ms = 1_000;
const retryAfter_s = 60;

export interface OpenQuota {
  /** Takes a place for one more. @throws ApiError rateLimited */
  take(appId: string): Promise<void>;
}

export function createOpenQuota({
  countOpenKeyless,
  limits,
  clock,
}: Pick<HttpDeps, 'countOpenKeyless' | 'limits' | 'clock'>): OpenQuota {
  const max = limits.keylessOpenPerAppMax;
  /** Of apps that are open to strangers: the operator's choice, so there are few. */
  const apps = new Map<string, () => Promise<{ open: number }>>();
  const standing = (appId: string) => {
    const known = apps.get(appId);
    if (known) return known;
    const count = asked(async () => ({ open: await countOpenKeyless(appId, max) }), { clock, life_ms: countLife_ms });
    apps.set(appId, count);
    return count;
  };
  return {
    async take(appId) {
      if (max === 0) return;
      const count = await standing(appId)();
      if (count.open >= max)
        throw rateLimited('the app has too many open payments that were created without a key', retryAfter_s);
      count.open += 1;
    },
  };
}
