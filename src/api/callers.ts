/** Who may call a route, and who does. */
import type { Caller } from '../../queries/apps.ts';
import type { SignedIn } from '../accounts/accounts.ts';

export type { SignedIn };

/** Somebody who has signed in and acts on an app of theirs. */
export interface Owner extends SignedIn {
  readonly appId: string;
}

/**
 * none: keys are not looked at. optional: a key that is sent must be valid. orders, admin: a key of at least that scope.
 * person: somebody who has signed in. owner: the same, who acts on an app of theirs. app: an owner, or a key of scope admin.
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
/** Whoever a route can be called by. */
export type AnyCaller = Exclude<Callers[Auth], null>;
export type CallerOf<A extends Auth> = Callers[A];
