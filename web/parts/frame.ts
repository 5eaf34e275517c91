/** Frame of a page. */
import type { Chain } from '../../domain/chains.ts';

/** sandbox: local chains, play money. test: public test networks. live: money. */
export type Mode = 'sandbox' | 'test' | 'live';

/** The installation, as its pages describe it. */
export interface Site {
  readonly mode: Mode;
  /** The chains that it serves. */
  readonly chains: readonly Chain[];
  /** Fee of a new app. */
  readonly fee: { readonly fixed_microUsd: bigint; readonly basisPoints: number };
  /** Delay of an owner's change of the settlement wallet. */
  readonly settlementCoolDown_hours: number;
  /** True if anyone may register. */
  readonly registrationOpen: boolean;
  /** URL of the mailbox that holds mails instead of sending them; null if mails are sent. */
  readonly mailboxUrl: string | null;
  /** Account with which newcomers may sign in, to try the dashboard; null without one. */
  readonly demoEmail: string | null;
}

/** Displayed once after an action. */
export interface Flash {
  readonly kind: 'done' | 'warning' | 'problem';
  readonly text: string;
}

/** Frame of a page without an app: sign-in, registration, choice of an app. */
export interface Outer {
  readonly mode: Mode;
  /** E-mail of the signed-in person. */
  readonly person: string | null;
  readonly flash: Flash | null;
}

export interface AppName {
  readonly appId: string;
  /** Name in its profile; the id without one. */
  readonly name: string;
}

/** Frame of an app's page. */
export interface Frame extends Outer {
  readonly app: AppName;
  /** The person's apps, including this one. */
  readonly apps: readonly AppName[];
  /** URL of our copy; null without one. */
  readonly logoUrl: string | null;
  /** Number of the person's unread notifications of this app. */
  readonly unread: number;
}
