/** Rate limits: how often callers may ask, how all instances count it, and how answers tell them (draft-ietf-httpapi-ratelimit-headers). */

import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Request, Response } from 'express';
import { RateLimiterMemory, RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { Clock } from '../../commands/ports.ts';
import { lifetime_ms } from '../../domain/payment/create.ts';
import type { Sql } from '../../projections/sql.ts';
import type { SignInLimitName } from '../accounts/signInLimits.ts';
import { addressList } from '../security/publicAddress.ts';
import type { AnyCaller } from './callers.ts';
import { ApiError } from './errors.ts';

/** At most so many requests in a window; 0 is no limit. */
export interface Rate {
  readonly requestsMax: number;
  readonly window_s: number;
  /** Parts that the limit is divided into: one sharer may use up one part, and at least `partLeast` requests. Default: no division. */
  readonly parts?: number;
}

/** A part of a small limit still serves a few requests. */
const partLeast = 5;

/** Returns the share of one sharer; the whole limit where nothing divides it. */
export const partOf = ({ requestsMax, parts = 1 }: Rate): number =>
  Math.min(requestsMax, Math.max(partLeast, Math.ceil(requestsMax / parts)));

/**
 * address: requests without a valid key. key, app: requests with one. keylessCreation: payments created without a key, by address.
 * keylessOpen: the same for as long as such a payment stays open, and so no fewer than are open; each app is a sharer.
 * linkOpen: payments that payers made with an app's reusable links, for as long as one stays open; each address is a sharer.
 * wallet, walletPayment: requests of wallets in payers' browsers, by address and by payment.
 * redelivery, webhookTest: webhooks that an app's owner asks for, by app. changes: of an app's settings, by app.
 * signIn: codes to sign in with, by address; signInEmail: by whom they are for, each address a sharer; signInKnown: by the browser, where its owner has signed
 * in before. shortCodesEmail, shortCodes: six-digit codes for one mailbox, and for
 * all; further codes have eight digits. registration: by address. notice: mails of one kind to an app's owner, by app and kind.
 */
export const rateNames = [
  'address',
  'key',
  'app',
  'keylessCreation',
  'keylessOpen',
  'linkOpen',
  'wallet',
  'walletPayment',
  'redelivery',
  'webhookTest',
  'signIn',
  'signInEmail',
  'signInKnown',
  'shortCodesEmail',
  'shortCodes',
  'registration',
  'changes',
  'notice',
] as const;
export type RateName = (typeof rateNames)[number];
export type RateLimits = Readonly<Record<RateName, Rate>>;

const minute_s = 60;
const hour_s = 60 * minute_s;
const day_s = 24 * hour_s;
/** As long as a payment may be paid. */
const open_s = lifetime_ms / 1_000;

export const defaultRates: RateLimits = {
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
  notice: { requestsMax: 20, window_s: day_s },
  changes: { requestsMax: 120, window_s: hour_s },
};

/** How a caller stands after a request was counted. */
export interface Counted extends Rate {
  readonly name: RateName;
  readonly allowed: boolean;
  readonly remaining: number;
  /** Until the window ends; at least 1. */
  readonly reset_s: number;
}

export interface Rates {
  /**
   * Counts a request. A /64 of IPv6 also counts under the networks around it. Null where there is no limit.
   *
   * @param sharer of the limit's parts: an address that uses an app's places, or the app that an address uses its places for
   * @throws Unavailable where the count must be known and is not
   */
  count(name: RateName, who: string, sharer?: string): Promise<Counted | null>;
}

/** Nobody is counted. */
export const unlimited: Rates = { count: async () => null };

export interface Admission {
  /** All throw ApiError rateLimited. */
  ofStranger(request: Request, response: Response): Promise<void>;
  /** Counts a request that failed before any limit counted it as a stranger's: no path, method or header is free. */
  ofUncounted(request: Request, response: Response): Promise<void>;
  ofCaller(caller: AnyCaller, response: Response): Promise<void>;
  /** @param appId where the request names one */
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
      // A session is counted like a key: it is somebody's own.
      await admit(response, 'key', 'keyId' in caller ? caller.keyId : caller.sessionId);
    },
    async ofKeylessCreation(request, response, appId) {
      const client = clients.of(request);
      await admit(response, 'keylessOpen', client, appId);
      await admit(response, 'keylessCreation', client);
    },
  };
}

/** Accounts tell of their own; nobody is refused a notice. */
type Told = Exclude<RateName, SignInLimitName | 'notice'>;

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

/** Counts what an app's owner asks for. @throws ApiError rateLimited; Unavailable where the count must be known and is not */
export async function admitApp(rates: Rates, name: Told, appId: string, sharer?: string): Promise<void> {
  const counted = await rates.count(name, appId, sharer);
  if (counted && !counted.allowed) throw rateLimited(refusals[name], counted.reset_s);
}

export const rateLimited = (what: string, retryAfter_s: number): ApiError =>
  new ApiError('rateLimited', `${what}: try again in ${retryAfter_s} s`, {
    headers: { 'Retry-After': String(retryAfter_s) },
  });

function tell(response: Response, { name, requestsMax, window_s, remaining, reset_s }: Counted): void {
  response.setHeader('RateLimit-Policy', `"${name}";q=${requestsMax};w=${window_s}`);
  response.setHeader('RateLimit', `"${name}";r=${remaining};t=${reset_s}`);
}

// Who calls, by network address. Limits of strangers count by it, so nobody may choose his own.

export interface Clients {
  /** Whether requests from this address come through it, not from it. */
  isProxy(address: string): boolean;
  /** What the request is counted under: an IPv4 address, or the /64 of an IPv6 address. */
  of(request: IncomingMessage): string;
}

/**
 * X-Forwarded-For is believed from the operator's own proxies and from nobody else. Each hop added the address that it saw at the end, so
 * the list is read from there, until an address that is no proxy of ours: what stands before it may be made up.
 *
 * @param trustedProxies CIDR blocks @throws Error naming the block that is none
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

/** Characters of X-Forwarded-For that are read, from its end: a caller can make the rest as long as they like. */
const forwardedMax = 1_000;

/** A socket that listens on IPv6 shows IPv4 as ::ffff:1.2.3.4. */
export const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');

/** Some proxies add the port: 1.2.3.4:5678, [2001:db8::1]:5678. */
function addressIn(hop: string): string | undefined {
  const text = hop.trim().replace(/^\[(.*)\](:\d+)?$/, '$1');
  const address = plainAddress(/^\d+(\.\d+){3}:\d+$/.test(text) ? text.slice(0, text.indexOf(':')) : text);
  return isIP(address) ? address : undefined;
}

/** An IPv6 subscriber has a /64 at least, and may call from any address in it. */
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
  /** Ordinary callers that the network may be as busy as. */
  readonly callers: number;
}

/**
 * Returns the networks that a caller counts under besides its own, narrowest first: providers and tunnels assign a /56 or a /48, which is
 * 65,536 networks of size /64. Anything but a /64 counts under itself alone.
 */
export function networksOf(client: string): readonly Network[] {
  const own = { network: client, callers: 1 };
  const groups = /^([0-9a-f]+):([0-9a-f]+):([0-9a-f]+):([0-9a-f]+)::\/64$/.exec(client)?.slice(1);
  if (!groups) return [own];
  const [a, b, c, d = '0'] = groups;
  const upper = (Number.parseInt(d, 16) & 0xff00).toString(16);
  return [own, { network: `${a}:${b}:${c}:${upper}::/56`, callers: 4 }, { network: `${a}:${b}:${c}::/48`, callers: 8 }];
}

// Counts that all instances share through Postgres.

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
