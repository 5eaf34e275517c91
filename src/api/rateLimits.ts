/** How often callers may ask, and how answers tell them (draft-ietf-httpapi-ratelimit-headers). */
import type { Request, Response } from 'express';
import { lifetime_ms } from '../../domain/payment/create.ts';
import type { DoorLimit } from '../accounts/signInLimits.ts';
import type { AnyCaller } from './callers.ts';
import type { Clients } from './clients.ts';
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
type Told = Exclude<RateName, DoorLimit | 'notice'>;

const refusals: Readonly<Record<Told, string>> = {
  address: 'too many requests without a key from this address',
  key: 'too many requests with this key',
  app: 'too many requests with the keys of this app',
  keylessCreation: 'too many payments created without a key from this address',
  keylessOpen: 'too many open payments created without a key from this address',
  linkOpen: 'too many open payments with links of this app',
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
