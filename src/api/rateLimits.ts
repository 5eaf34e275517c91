/** Rate limits: their windows, their shared counts over all instances, and their answer headers (draft-ietf-httpapi-ratelimit-headers). */
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Request, Response } from 'express';
import { RateLimiterMemory, RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { TakePlace } from '../../commands/createPayment.ts';
import { type Clock, Unavailable } from '../../commands/ports.ts';
import { type Refusal, refuse } from '../../domain/decider.ts';
import { lifetime_ms } from '../../domain/payment/create.ts';
import { epochMs } from '../../domain/time.ts';
import type { Sql } from '../../projections/sql.ts';
import type { SignInLimitName } from '../accounts/signInLimits.ts';
import { addressList } from '../security/publicAddress.ts';
import type { AnyCaller } from './auth.ts';
import { ApiError } from './errors.ts';

/** Maximum requests in a window; 0 means no limit. */
export interface Rate {
  readonly requestsMax: number;
  readonly window_s: number;
  /** Number of shares of the limit: one sharer may use one share, and at least `partLeast` requests. Default: no division. */
  readonly parts?: number;
}

/** Minimum requests of a share. */
const partLeast = 5;

/** Returns the share of one sharer; the whole limit without a division. */
export const shareOfLimit = ({ requestsMax, parts = 1 }: Rate): number =>
  Math.min(requestsMax, Math.max(partLeast, Math.ceil(requestsMax / parts)));

const minute_s = 60;
const hour_s = 60 * minute_s;
const day_s = 24 * hour_s;
/** Life of a payment. */
const open_s = lifetime_ms / 1_000;

/**
 * address: requests without a valid key. key, app: requests with one. keylessCreation: payments created without a key, by address.
 * keylessOpen: such payments for as long as they stay open; each app is a sharer. linkOpen: payments created with an app's reusable links,
 * for as long as one stays open; each address is a sharer. redelivery, webhookTest: webhooks requested by an app's owner, by app. changes:
 * changes of an app's settings, by app. signIn: sign-in codes, by address; signInEmail: by recipient, each address a sharer; signInKnown:
 * by known browser. shortCodesEmail, shortCodes: six-digit codes for one mailbox, and for all; further codes have eight digits.
 * registration: by address. notice: mails of one kind to an app's owner, by app and kind. invitation: mails to one invited person.
 */
const ownRates = {
  address: { requestsMax: 6_000, window_s: minute_s },
  key: { requestsMax: 120_000, window_s: minute_s },
  app: { requestsMax: 240_000, window_s: minute_s },
  keylessCreation: { requestsMax: 300, window_s: minute_s },
  keylessOpen: { requestsMax: 2_000, window_s: open_s, parts: 4 },
  linkOpen: { requestsMax: 10_000, window_s: open_s, parts: 40 },
  wallet: { requestsMax: 300, window_s: minute_s },
  walletPayment: { requestsMax: 30, window_s: minute_s },
  redelivery: { requestsMax: 60, window_s: minute_s },
  webhookTest: { requestsMax: 20, window_s: minute_s },
  signIn: { requestsMax: 30, window_s: hour_s },
  signInEmail: { requestsMax: 20, window_s: hour_s, parts: 4 },
  signInKnown: { requestsMax: 30, window_s: hour_s },
  shortCodesEmail: { requestsMax: 10, window_s: day_s },
  shortCodes: { requestsMax: 60, window_s: hour_s },
  registration: { requestsMax: 10, window_s: hour_s },
  changes: { requestsMax: 120, window_s: hour_s },
  notice: { requestsMax: 20, window_s: day_s },
  invitation: { requestsMax: 3, window_s: day_s },
} as const satisfies Readonly<Record<string, Rate>>;
export type RateName = keyof typeof ownRates;
export type RateLimits = Readonly<Record<RateName, Rate>>;
export const defaultRates: RateLimits = ownRates;

/** A caller's count after a request. */
export interface RateCount extends Rate {
  readonly name: RateName;
  readonly allowed: boolean;
  readonly remaining: number;
  /** Seconds until the window ends; at least 1. */
  readonly reset_s: number;
}

export interface Rates {
  /**
   * Counts a request. A /64 of IPv6 also counts under the networks around it. Null if there is no limit.
   *
   * @param sharer of the limit's shares: an address that uses an app's limit, or the app for which an address uses its own
   * @throws Unavailable if the count is required and unknown
   */
  count(name: RateName, who: string, sharer?: string): Promise<RateCount | null>;
}

/** No limits. */
export const unlimited: Rates = { count: async () => null };

export interface Admission {
  /** All throw ApiError rateLimited. */
  ofStranger(request: Request, response: Response): Promise<void>;
  /** Counts a request that failed before any limit counted it as a stranger's: no path, method or header avoids the count. */
  ofUncounted(request: Request, response: Response): Promise<void>;
  ofCaller(caller: AnyCaller, response: Response): Promise<void>;
  /** @param appId if the request names one */
  ofKeylessCreation(request: Request, response: Response, appId?: string): Promise<void>;
}

export function createAdmission(rates: Rates, clients: Pick<Clients, 'of'>): Admission {
  const admit = async (response: Response, name: Told, who: string, sharer?: string): Promise<void> => {
    response.locals['isCounted'] = true;
    const counted = await rates.count(name, who, sharer);
    if (!counted) return;
    tell(response, counted);
    if (!counted.allowed) throw rateLimited(refusals[name], counted.reset_s);
  };
  const ofStranger = (request: Request, response: Response) => admit(response, 'address', clients.of(request));
  return {
    ofStranger,
    async ofUncounted(request, response) {
      if (!response.locals['isCounted']) await ofStranger(request, response);
    },
    async ofCaller(caller, response) {
      if ('appId' in caller) await admit(response, 'app', caller.appId);
      // A session is counted like a key, because it belongs to a person.
      await admit(response, 'key', 'keyId' in caller ? caller.keyId : caller.sessionId);
    },
    async ofKeylessCreation(request, response, appId) {
      const client = clients.of(request);
      await admit(response, 'keylessOpen', client, appId);
      await admit(response, 'keylessCreation', client);
    },
  };
}

/** Limits whose refusals the routes report; accounts report their own, and notices and invitations are never refused. */
type Told = Exclude<RateName, SignInLimitName | 'notice' | 'invitation'>;

const refusals: Readonly<Record<Told, string>> = {
  address: 'too many requests without a key from this address',
  key: 'too many requests with this key',
  app: 'too many requests with the keys of this app',
  keylessCreation: 'too many payments created without a key from this address',
  keylessOpen: 'too many open payments created without a key from this address',
  linkOpen: 'too many open payments with links of this app',
  wallet: 'too many requests of wallets from this address',
  walletPayment: 'too many requests of wallets for this payment',
  redelivery: 'too many redeliveries of this app',
  webhookTest: 'too many test webhooks of this app',
  changes: 'too many changes of this app’s settings',
};

/** Counts a request of an app's owner. @throws ApiError rateLimited; Unavailable if the count is required and unknown */
export async function admitApp(rates: Rates, name: Told, appId: string, sharer?: string): Promise<void> {
  const counted = await rates.count(name, appId, sharer);
  if (counted && !counted.allowed) throw rateLimited(refusals[name], counted.reset_s);
}

export const rateLimited = (what: string, retryAfter_s: number): ApiError =>
  new ApiError('rateLimited', `${what}: try again in ${retryAfter_s} s`, {
    headers: { 'Retry-After': String(retryAfter_s) },
  });

function tell(response: Response, { name, requestsMax, window_s, remaining, reset_s }: RateCount): void {
  response.setHeader('RateLimit-Policy', `"${name}";q=${requestsMax};w=${window_s}`);
  response.setHeader('RateLimit', `"${name}";r=${remaining};t=${reset_s}`);
}

/** Network address of a caller. Strangers' limits use it, so no caller may choose their own. */
export interface Clients {
  /** True if requests from this address are forwarded by a proxy of the operator. */
  isProxy(address: string): boolean;
  /** Address that the request counts under: an IPv4 address, or the /64 of an IPv6 address. */
  of(request: IncomingMessage): string;
}

/**
 * Trusts X-Forwarded-For only from the operator's own proxies. Each hop appends the address of its caller, so the list is read from its end
 * to the first address that is no trusted proxy; earlier entries may be forged.
 *
 * @param trustedProxies CIDR blocks @throws Error naming an invalid block
 */
export function createClients(trustedProxies: readonly string[]): Clients {
  const proxies = addressList(trustedProxies);
  const isProxy = (address: string): boolean => {
    const family = isIP(address);
    return family !== 0 && proxies.check(address, family === 4 ? 'ipv4' : 'ipv6');
  };
  return {
    isProxy,
    of({ socket, headers }) {
      let client = plainAddress(socket.remoteAddress ?? '');
      const hops = String(headers['x-forwarded-for'] ?? '')
        .slice(-forwardedMax)
        .split(',');
      while (isProxy(client)) {
        const before = addressIn(hops.pop() ?? '');
        if (before === undefined) break;
        client = before;
      }
      return neighbourhoodOf(client);
    },
  };
}

/** Characters of X-Forwarded-For that are read, from its end: a caller can make it as long as they like. */
const forwardedMax = 1_000;

/** An IPv6 socket reports IPv4 addresses as ::ffff:1.2.3.4. */
export const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');

/** Some proxies add the port: 1.2.3.4:5678, [2001:db8::1]:5678. */
function addressIn(hop: string): string | undefined {
  const text = hop.trim().replace(/^\[(.*)\](:\d+)?$/, '$1');
  const address = plainAddress(/^\d+(\.\d+){3}:\d+$/.test(text) ? text.slice(0, text.indexOf(':')) : text);
  return isIP(address) ? address : undefined;
}

/** An IPv6 subscriber has at least a /64, and may call from any address in it. */
export function neighbourhoodOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const [left = [], right = []] = address.split('::').map((part) => part.split(':').filter(Boolean));
  const rightLength = right.length + (right.at(-1)?.includes('.') ? 1 : 0);
  const zeros = Array<string>(Math.max(0, 8 - left.length - rightLength)).fill('0');
  const groups = [...left, ...zeros, ...right].slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${groups.join(':')}::/64`;
}

export interface Network {
  readonly network: string;
  /** Number of ordinary callers that the network may use the limits of. */
  readonly callers: number;
}

/**
 * Returns the additional networks that a caller counts under, narrowest first: providers and tunnels assign a /56 or a /48, which is 65,536
 * networks of size /64. Anything but a /64 counts only under its own address.
 */
export function networksOf(client: string): readonly Network[] {
  const own = { network: client, callers: 1 };
  const groups = /^([0-9a-f]+):([0-9a-f]+):([0-9a-f]+):([0-9a-f]+)::\/64$/.exec(client)?.slice(1);
  if (!groups) return [own];
  const [a, b, c, d = '0'] = groups;
  const upper = (Number.parseInt(d, 16) & 0xff00).toString(16);
  return [own, { network: `${a}:${b}:${c}:${upper}::/56`, callers: 4 }, { network: `${a}:${b}:${c}::/48`, callers: 8 }];
}

/** Counts shared by all instances through Postgres. */
interface Counter {
  /** @throws RateLimiterRes above the limit */
  consume(who: string): Promise<RateLimiterRes>;
  /** Writes local counts to Postgres. */
  settle?(): Promise<void>;
}

/**
 * Rare or costly requests are counted in Postgres at once, and refused while Postgres is unavailable: creating without a key, signing in,
 * registering, requested webhooks. Frequent requests are counted locally and settled once a second, so no request waits for the count and
 * an outage of Postgres stops nobody.
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
/** Callers below this share of a limit on an instance are not written to Postgres: most callers never reach it. */
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
  async function countUnder(name: RateName, rate: Rate, who: string): Promise<RateCount> {
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
        // The next attempt writes failed counts.
        await settle().catch(() => {});
      }
    },

    async count(name, who, sharer): Promise<RateCount | null> {
      const rate = limits[name];
      if (rate.requestsMax === 0) return null;
      // Narrowest first: a caller over one limit uses up no wider one.
      let own: RateCount | undefined;
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

/** Either `who` or `sharer` may be an address. A share as large as the whole limit is not counted. */
function shares(rate: Rate, who: string, sharer: string | undefined): readonly Limit[] {
  if (sharer === undefined || rate.parts === undefined) return [];
  return networksOf(who).flatMap((whose) =>
    networksOf(sharer)
      .map((sharing) => ({
        under: `${whose.network} ${sharing.network}`,
        max: shareOfLimit(rate) * whose.callers * sharing.callers,
      }))
      .filter(({ max }) => max < rate.requestsMax * whose.callers),
  );
}

/** Callers over the limit are remembered locally until the window ends, so a flood costs Postgres nothing. */
function inPostgres(sql: Sql, name: RateName, { requestsMax, window_s }: Rate): Counter {
  return new RateLimiterPostgres({
    ...tableIn(sql),
    keyPrefix: name,
    points: requestsMax,
    duration: window_s,
    inMemoryBlockOnConsumed: requestsMax,
  });
}

/** Several instances together admit slightly more: the counts between two settlements, and those below the written share. */
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

/** Uses our connections instead of a driver's pool: their errors identify an outage. The library treats times as numbers. */
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

// Limit on an app's open payments by any creator: each is watched until its time is over.

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

const refusalsOfOpen: Readonly<Record<Kind, string>> = {
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
    if (count.open >= max) return { ...refuse('rateLimited', told(refusalsOfOpen[kind])), retryAfter_s };
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
