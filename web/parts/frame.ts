/** What is around a page. */
import type { Chain } from '../../domain/chains.ts';

/** sandbox: local chains, play money. test: public test networks. live: money. */
export type Mode = 'sandbox' | 'test' | 'live';

/** The installation, as its pages describe it. */
export interface Site {
  readonly mode: Mode;
  /** The chains that it serves. */
  readonly chains: readonly Chain[];
  /** Delay of an owner's change of the settlement wallet. */
  readonly settlementCoolDown_hours: number;
  /** True if anybody may register. */
  readonly registrationOpen: boolean;
  /** URL of the mailbox that shows mails instead of sending them; null where mails are sent. */
  readonly mailboxUrl: string | null;
  /** Account that newcomers may sign in with, to look around; null without one. */
  readonly demoEmail: string | null;
}

/** Said once, after something was done. */
export interface Flash {
  readonly kind: 'done' | 'warning' | 'problem';
  readonly text: string;
}

/** Around a page that belongs to no app: signing in, registering, choosing. */
export interface Outer {
  readonly mode: Mode;
  /** The e-mail of who is signed in. */
  readonly person: string | null;
  readonly flash: Flash | null;
}

export interface AppName {
  readonly appId: string;
  /** As its profile says; the id when it says nothing. */
  readonly name: string;
}

/** Around a page of an app. */
export interface Frame extends Outer {
  readonly app: AppName;
  /** The person's apps, this one among them. */
  readonly apps: readonly AppName[];
  /** Ours; null without one. */
  readonly logoUrl: string | null;
}
