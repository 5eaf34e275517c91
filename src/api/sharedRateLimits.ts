/** Counts of requests that all instances share through Postgres. */
import { RateLimiterMemory, RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { Clock } from '../../commands/ports.ts';
import type { Sql } from '../../projections/sql.ts';
import {
  type Counted,
  networksOf,
  partOf,
  type Rate,
  type RateLimits,
  type RateName,
  type Rates,
} from './rateLimits.ts';

interface Counter {
  /** @throws RateLimiterRes when it is too much */
  consume(who: string): Promise<RateLimiterRes>;
  /** Tells Postgres what was counted here. */
  settle?(): Promise<void>;
}

/**
 * What is seldom or costly is counted in Postgres at once, and is not allowed while Postgres is away: creating without a key, signing in,
 * registering, webhooks that somebody asks for. What an honest client does all day is counted here and settled once a second, so that no
 * request waits for it and an outage of Postgres stops nobody.
 */
const strict: ReadonlySet<RateName> = new Set([
  'keylessCreation',
  'keylessOpen',
  'linkOpen',
  'redelivery',
  'webhookTest',
  'signIn',
  'signInEmail',
  'signInKnown',
  'shortCodesEmail',
  'shortCodes',
  'registration',
  'notice',
]);

const settle_ms = 1_000;
const settledAtOnceMax = 500;
/** Whoever has used less of a limit than this on an instance is not written to Postgres: most callers never are. */
const toldFrom = 0.1;

export interface SharedRates extends Rates {
  /** Until the signal aborts. */
  keepSettling(clock: Pick<Clock, 'sleep'>, signal: AbortSignal): Promise<void>;
  settle(): Promise<void>;
}

export function createRates(sql: Sql, limits: RateLimits): SharedRates {
  const counters = new Map<string, Counter>();
  const counterOf = (name: RateName, rate: Rate): Counter => {
    const key = `${name} ${rate.requestsMax}`;
    const counter = counters.get(key) ?? (strict.has(name) ? inPostgres : settled)(sql, name, rate);
    counters.set(key, counter);
    return counter;
  };
  const settle = async () => {
    for (const counter of counters.values()) await counter.settle?.();
  };
  async function countUnder(name: RateName, rate: Rate, who: string): Promise<Counted> {
    const { allowed, left } = await counterOf(name, rate)
      .consume(who)
      .then(
        (left) => ({ allowed: true, left }),
        (refused: unknown) => {
          if (refused instanceof RateLimiterRes) return { allowed: false, left: refused };
          throw refused;
        },
      );
    const { requestsMax, window_s } = rate;
    const reset_s = Math.max(1, Math.ceil(left.msBeforeNext / 1_000));
    return { name, requestsMax, window_s, allowed, remaining: left.remainingPoints, reset_s };
  }
  return {
    settle,

    async keepSettling(clock, signal) {
      while (!signal.aborted) {
        await clock.sleep(settle_ms, signal);
        // What was not told is told the next time.
        await settle().catch(() => {});
      }
    },

    async count(name, who, sharer): Promise<Counted | null> {
      const rate = limits[name];
      if (rate.requestsMax === 0) return null;
      // The narrowest first: a caller who is over one limit uses up no wider one.
      let own: Counted | undefined;
      for (const { under, max } of [...shares(rate, who, sharer), ...wholes(rate, who)]) {
        const counted = await countUnder(name, { ...rate, requestsMax: max }, under);
        if (!counted.allowed) return counted;
        if (under === who) own = counted;
      }
      return own ?? null;
    },
  };
}

interface Limit {
  readonly under: string;
  readonly max: number;
}

const wholes = ({ requestsMax }: Rate, who: string): readonly Limit[] =>
  networksOf(who).map(({ network, callers }) => ({ under: network, max: requestsMax * callers }));

/** Of `who` and `sharer` one may be an address. A share as large as the whole limit is not counted. */
function shares(rate: Rate, who: string, sharer: string | undefined): readonly Limit[] {
  if (sharer === undefined || rate.parts === undefined) return [];
  return networksOf(who).flatMap((whose) =>
    networksOf(sharer)
      .map((sharing) => ({
        under: `${whose.network} ${sharing.network}`,
        max: partOf(rate) * whose.callers * sharing.callers,
      }))
      .filter(({ max }) => max < rate.requestsMax * whose.callers),
  );
}

/** Who is over the limit is remembered here until the window ends: a flood costs Postgres nothing. */
function inPostgres(sql: Sql, name: RateName, { requestsMax, window_s }: Rate): Counter {
  return new RateLimiterPostgres({
    ...tableIn(sql),
    keyPrefix: name,
    points: requestsMax,
    duration: window_s,
    inMemoryBlockOnConsumed: requestsMax,
  });
}

/** Several instances together let a little more through: what they count between two settlements, and below the share that is told. */
function settled(sql: Sql, name: RateName, { requestsMax, window_s }: Rate): Counter {
  const here = new RateLimiterMemory({ points: requestsMax, duration: window_s });
  const everywhere = new RateLimiterPostgres({
    ...tableIn(sql),
    keyPrefix: name,
    points: requestsMax,
    duration: window_s,
  });
  const tellFrom = Math.ceil(requestsMax * toldFrom);
  const untold = new Map<string, number>();
  const add = (who: string, count: number) => untold.set(who, (untold.get(who) ?? 0) + count);
  return {
    async consume(who) {
      const counted = await here.consume(who);
      if (counted.consumedPoints === tellFrom) add(who, tellFrom);
      else if (counted.consumedPoints > tellFrom) add(who, 1);
      return counted;
    },
    async settle() {
      for (const [who, count] of [...untold].slice(0, settledAtOnceMax)) {
        untold.delete(who);
        const all = await everywhere.penalty(who, count).catch((error: unknown) => {
          add(who, count);
          throw error;
        });
        if (all.consumedPoints >= requestsMax) await here.block(who, Math.ceil(all.msBeforeNext / 1_000));
      }
    },
  };
}

/** Our own connections instead of a driver's pool: their errors say what an outage is. The library reckons times as numbers. */
const tableIn = (sql: Sql) => ({
  storeClient: {
    async query({ text, values }: { readonly text: string; readonly values: readonly unknown[] }) {
      const found = await sql.query<{ points: number; expire: bigint | null }>(text, values);
      const rows = found.map(({ points, expire }) => ({ points, expire: expire === null ? null : Number(expire) }));
      return { rows, rowCount: rows.length };
    },
  },
  storeType: 'pool',
  schemaName: 'ops',
  tableName: 'rate_limits',
  tableCreated: true,
});
