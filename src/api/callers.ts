/** Permissions of routes, and callers. */
import type { Caller } from '../../queries/apps.ts';
import type { SignedIn } from '../accounts/accounts.ts';

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
