/** Limit on an app's open payments by any creator: each is watched until its time is over. */
import type { TakePlace } from '../../commands/createPayment.ts';
import { type Clock, Unavailable } from '../../commands/ports.ts';
import { type Refusal, refuse } from '../../domain/decider.ts';
import { epochMs } from '../../domain/time.ts';

/** 0 means no limit. */
export interface OpenLimits {
  /** Maximum open payments of an app. */
  readonly openPerAppMax: number;
  /** Maximum open payments created without a key: strangers never use up the capacity of an app's own key. */
  readonly keylessOpenPerAppMax: number;
}

export const defaultOpenLimits: OpenLimits = { openPerAppMax: 100_000, keylessOpenPerAppMax: 20_000 };

export interface OpenPlacesDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly limits: OpenLimits;
  /** Number of an app's open payments, counted up to `max`: all, or those created without a key. @throws Unavailable */
  readonly countOpen: (appId: string, kind: Kind, max: number) => Promise<number>;
}

type Kind = 'all' | 'keyless';

interface Count {
  readonly taken: Promise<{ open: number }>;
  /** Infinity during the count. */
  until_ms: number;
}

/** Life of a count; payments created here meanwhile are added. */
const countLife_ms = 1_000;
/** Life of a count while less than half of the limit is used. */
const easyLife_ms = 10_000;
const retryAfter_s = 60;
const appsMax = 10_000;

const refusals: Readonly<Record<Kind, string>> = {
  all: 'the app has too many open payments',
  keyless: 'the app has too many open payments that were created without a key',
};

/** Reserves one more open payment; an unused reservation is free again with the next count. */
export function createOpenPlaces({ clock, limits, countOpen }: OpenPlacesDeps): TakePlace {
  const counts = new Map<string, Count>();

  function counted(appId: string, kind: Kind, max: number): Count['taken'] {
    const key = `${kind} ${appId}`;
    const known = counts.get(key);
    if (known && known.until_ms > epochMs(clock.now())) return known.taken;
    if (counts.size >= appsMax) counts.clear();
    const taken = countOpen(appId, kind, max).then((open) => {
      count.until_ms = epochMs(clock.now()) + (open * 2 < max ? easyLife_ms : countLife_ms);
      return { open };
    });
    const count: Count = { taken, until_ms: Number.POSITIVE_INFINITY };
    counts.set(key, count);
    taken.catch(() => counts.delete(key));
    return taken;
  }

  async function take(appId: string, kind: Kind, max: number): Promise<Refusal | undefined> {
    if (max === 0) return undefined;
    const count = await counted(appId, kind, max);
    if (count.open >= max) return { ...refuse('rateLimited', told(refusals[kind])), retryAfter_s };
    count.open += 1;
    return undefined;
  }

  return async (appId, { keyless }) => {
    // Strangers are not admitted without a count. An app's own key is: its rate limits what it may create while Postgres is unavailable.
    const strangers = keyless ? await take(appId, 'keyless', limits.keylessOpenPerAppMax) : undefined;
    if (strangers) return strangers;
    return take(appId, 'all', limits.openPerAppMax).catch((error: unknown) => {
      if (keyless || !(error instanceof Unavailable)) throw error;
      return undefined;
    });
  };
}

const told = (what: string): string =>
  `${what}: try again in ${retryAfter_s} s, when some have been paid or have expired`;
