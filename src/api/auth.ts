/** Authentication: API keys, looked up by hash through a short-lived cache, and signed-in people. */
import type { Request } from 'express';
import type { Clock } from '../../commands/ports.ts';
import type { App, Caller } from '../../queries/apps.ts';
import type { SignedIn } from '../accounts/accounts.ts';
import { ttlCache } from '../lib/cache.ts';
import { parseKey } from '../security/apiKey.ts';
import { ApiError } from './errors.ts';

export interface Access {
  /**
   * @param accepted receives the caller of a valid key, also if its scope is insufficient
   * @throws ApiError unauthenticated, scope_insufficient, invalidRequest if an owner of several apps names none
   */
  authenticate<A extends Auth>(request: Request, auth: A, accepted?: (caller: Caller) => void): Promise<CallerOf<A>>;
  /** Reads the settings that are in force. No answer is older than the call. @throws Unavailable */
  findApp(appId: string): Promise<App | null>;
}

/** Needs of authentication. */
export interface AccessDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly findApiKey: (hash: string) => Promise<Caller | null>;
  /** Answers from memory, for every request with a key. @throws Unavailable when the revoked keys are unknown */
  readonly isRevoked: (keyId: string) => boolean;
  /** Notifies of each request with an accepted key. */
  readonly keyUsed: (keyId: string) => void;
  readonly findApp: (appId: string) => Promise<App | null>;
  /** The person of a session's token; null for a token that is forged, too old, or of an ended session. */
  readonly findSession: (token: string) => Promise<SignedIn | null>;
  /** Ids of a person's apps. */
  readonly appsOf: (developerId: string) => Promise<readonly string[]>;
}

export function createAccess(deps: AccessDeps): Access {
  // Only facts that never change are cached: a key's app, scope and expiry. `isRevoked` is called for every request.
  const keys = ttlCache(deps.findApiKey, deps.clock);

  return {
    findApp: deps.findApp,
    authenticate: <A extends Auth>(request: Request, auth: A, accepted: (caller: Caller) => void = () => {}) =>
      identified(request, auth, accepted) as Promise<CallerOf<A>>,
  };

  async function identified(
    request: Request,
    auth: Auth,
    accepted: (caller: Caller) => void,
  ): Promise<AnyCaller | null> {
    if (auth === 'none') return null;
    const credential = presented(request);
    if (auth === 'person' || auth === 'owner') return signedIn(request, credential, auth);
    if (credential === null) {
      if (auth === 'optional') return null;
      throw unauthenticated('send an API key in the X-API-Key header, or as Authorization: Bearer');
    }
    if (auth === 'app' && isSessionToken(credential)) return signedIn(request, credential, 'owner');
    return keyed(credential, auth, accepted);
  }

  async function keyed(key: string, auth: Auth, accepted: (caller: Caller) => void): Promise<Caller> {
    const hash = parseKey(key);
    if (hash === undefined) throw unauthenticated('this is no API key: a character of it is missing or wrong');
    const caller = await keys(hash);
    const isExpired = caller?.expiresAt && caller.expiresAt <= deps.clock.now();
    if (!caller || isExpired || deps.isRevoked(caller.keyId))
      throw unauthenticated('the API key is unknown, expired or revoked: use another one');
    accepted(caller);
    if ((auth === 'admin' || auth === 'app') && caller.scope !== 'admin') {
      throw new ApiError('scope_insufficient', 'this needs a key of scope admin; the key sent has scope orders');
    }
    deps.keyUsed(caller.keyId);
    return caller;
  }

  async function signedIn(request: Request, token: string | null, auth: 'person' | 'owner'): Promise<SignedIn | Owner> {
    if (token !== null && parseKey(token) !== undefined) {
      throw unauthenticated('no API key may do this: sign in, and send the token as Authorization: Bearer');
    }
    const person = token === null ? null : await deps.findSession(token);
    if (!person) throw unauthenticated('sign in, and send the token as Authorization: Bearer');
    return auth === 'person' ? person : { ...person, appId: await appActedOn(request, person) };
  }

  /** Another owner's app is answered like an unknown one. */
  async function appActedOn({ headers }: Request, { developerId }: SignedIn): Promise<string> {
    const named = headers['x-app-id'];
    const own = await deps.appsOf(developerId);
    const [only] = own;
    if (named === undefined && only !== undefined && own.length === 1) return only;
    if (typeof named === 'string' && own.includes(named)) return named;
    const message =
      own.length === 0
        ? 'you have no app: register one first'
        : `must name one of your apps: ${own.slice(0, namedMax).join(', ')}`;
    throw new ApiError('invalidRequest', `X-App-Id ${message}`, { errors: [{ pointer: '/X-App-Id', message }] });
  }
}

/** Maximum apps listed in an error. */
const namedMax = 10;

/** A JSON web token has three parts; no API key has a dot. */
const isSessionToken = (credential: string): boolean => credential.split('.').length === 3;

/** The app, if it allows payments without a key; null for any other app and for an unknown one. */
export async function openApp({ findApp }: Access, appId: string): Promise<App | null> {
  const app = appId.startsWith('wallet_') ? await findApp(appId) : null;
  return app?.keylessAllowed ? app : null;
}

export const unauthenticated = (message: string): ApiError =>
  new ApiError('unauthenticated', message, { headers: { 'WWW-Authenticate': 'Bearer realm="payment-api"' } });

/** Key or token of the request. Beside an X-API-Key, an Authorization header without a bearer token belongs to a proxy. */
function presented({ headers }: Request): string | null {
  // A client without a configured key sends an empty header.
  const own = headers['x-api-key'] || undefined;
  const authorization = headers.authorization?.trim() || undefined;
  const bearer = /^bearer +([^\s]+)$/i.exec(authorization ?? '')?.[1];
  if (bearer === undefined) {
    if (own !== undefined) return String(own);
    if (authorization === undefined) return null;
    throw unauthenticated('the Authorization header must be: Bearer <API key>');
  }
  if (own !== undefined && own !== bearer) throw unauthenticated('two different keys were sent: send one');
  return bearer;
}

// Permissions of routes, and callers.

export type { SignedIn };

/** A signed-in person who acts on their app. */
export interface Owner extends SignedIn {
  readonly appId: string;
}

/**
 * none: ignores keys. optional: a sent key must be valid. orders, admin: a key of at least that scope. person: a signed-in person. owner: a
 * signed-in person who acts on their app. app: an owner, or a key of scope admin.
 */
export type Auth = 'none' | 'optional' | 'orders' | 'admin' | 'person' | 'owner' | 'app';

interface Callers {
  none: null;
  optional: Caller | null;
  orders: Caller;
  admin: Caller;
  person: SignedIn;
  owner: Owner;
  app: Caller | Owner;
}
/** Any caller of a route. */
export type AnyCaller = Exclude<Callers[Auth], null>;
export type CallerOf<A extends Auth> = Callers[A];
