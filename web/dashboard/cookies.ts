/**
 * The dashboard's cookies. `__Host-` (RFC 6265bis): a browser accepts them only from this host, over TLS or loopback, for every path. No
 * script can read them.
 */

import type { IncomingMessage } from 'node:http';
import Type from 'typebox';
import { compileBody } from '../../src/api/input.ts';
import type { Flash } from '../parts/frame.ts';

/**
 * session: token of a signed-in person. challenge: binds a passcode to the browser that requested it. known: this browser has signed in
 * before. `told`: name of the last request's outcome. language: chosen by the person who uses this browser.
 */
export type CookieName = 'session' | 'challenge' | 'known' | 'told' | 'language';
export type Cookies = Readonly<Partial<Record<CookieName, string>>>;

export interface SetCookie {
  readonly name: CookieName;
  /** Null removes it. */
  readonly value: string | null;
  /** Default: the browser's session. */
  readonly life_s?: number;
}

/** Lax: a link from a mail arrives signed in. The others are needed only within the dashboard. */
const sameSite: Readonly<Record<CookieName, 'Strict' | 'Lax'>> = {
  session: 'Lax',
  challenge: 'Strict',
  known: 'Strict',
  told: 'Strict',
  language: 'Lax',
};
const names = Object.keys(sameSite) as CookieName[];

/** Longer values are not ours. */
const valueMax = 2_048;
const plainValue = /^[\w.~-]+$/;

/** One pass over the header: other cookies, and a header of separators only, cost nothing more. */
const ownCookies = /(?:^|;)\s*__Host-(\w+)=([^;=]*)/g;

export function readCookies({ headers }: Pick<IncomingMessage, 'headers'>): Cookies {
  const read: Partial<Record<CookieName, string>> = {};
  for (const [, name, text = ''] of (headers.cookie ?? '').matchAll(ownCookies)) {
    const own = names.find((known) => name === known);
    const value = text.trim();
    if (own && value.length <= valueMax && plainValue.test(value)) read[own] ??= value;
  }
  return read;
}

/** The text of Set-Cookie. @throws TypeError for a value that needs quoting */
export function cookieText({ name, value, life_s }: SetCookie): string {
  if (value !== null && !plainValue.test(value)) throw new TypeError(`the value of the cookie ${name} needs quoting`);
  const age_s = value === null ? 0 : life_s;
  const age = age_s === undefined ? '' : `; Max-Age=${age_s}`;
  return `__Host-${name}=${value ?? ''}; Path=/; Secure; HttpOnly; SameSite=${sameSite[name]}${age}`;
}

const done = (text: string): Flash => ({ kind: 'done', text });

const flashes = {
  signedOut: done('You have signed out.'),
  sessionEnded: done('The session has ended.'),
  otherSessionsEnded: done('All other sessions have ended.'),
  keyRenamed: done('The key has its new name.'),
  keyRevoked: done('The key is revoked: it is refused from now on.'),
  webhookSet: done('The webhook URL is saved. New payments use it; older ones keep theirs.'),
  webhookTypesSet: done('The types are saved. New payments use them; older ones keep theirs.'),
  webhookRemoved: done('The webhook URL is removed. New payments send no webhooks.'),
  endpointRemoved: done('The endpoint is removed: it gets nothing more.'),
  testSent: done('The test was sent: here is what your server answered.'),
  redelivered: done('It was sent again: this is the new delivery.'),
  redeliveredAll: done('They were sent again: the list has the new deliveries with your server’s answers.'),
  redeliveredSome: {
    kind: 'warning',
    text: 'Not all were sent again: the list has those that were. The others were sent meanwhile, or must wait a minute for their turn.',
  },
  notRedelivered: {
    kind: 'problem',
    text: 'It was not sent again: tick the box below the warning first. A delivery can be sent again once, and only when it was not taken.',
  },
  linkMade: done('The payment is made. Send its link to whoever pays, or tell them what to pay where.'),
  testMade: done('The test payment is made. Open its link and pay it from a wallet of yours.'),
  testPaid: done('The test payment is made, and the customer of the sandbox pays it. This page follows it.'),
  testNotPaid: {
    kind: 'problem',
    text: 'The test payment is made, but the customer of the sandbox could not pay it. Pay it yourself: npm run pay -- and its id.',
  },
  orderKnown: { kind: 'warning', text: 'This order has its payment already: here it is. Nothing new was made.' },
  reusableLinkMade: done('The link is made. Whoever opens it makes a payment of his own.'),
  linkClosed: done('The link is closed.'),
  memberInvited: done('The invitation is mailed. It ends after 7 days.'),
  invitationCancelled: done('The invitation is cancelled.'),
  roleSet: done('The member has the new role from now on.'),
  memberRemoved: done('The member is removed from the team.'),
  ownershipTransferred: done('The app has its new owner. You are a developer of its team.'),
  teamJoined: done('You are in the team.'),
  teamLeft: done('You have left the team.'),
  invitationDeclined: done('The invitation is declined.'),
  invitationOver: { kind: 'problem', text: 'This invitation has ended: ask the owner of the app for another one.' },
  refundOrdered: done('The refund is ordered. It is sent and confirmed by itself: its state is below.'),
  refundToFund: done(
    'The refund is ordered. Pay this payment from a wallet of yours within one hour: it pays the refund to the payer.',
  ),
  addressConfirmed: done(
    'The address is confirmed. Refunds can go there once the waiting time is over; you can withdraw it.',
  ),
  addressWithdrawn: done('The address is withdrawn: no refund is ordered to it.'),
  paymentCancelled: done('The payment is cancelled: it ends as soon as its chain has been read up to now.'),
  notCancelled: {
    kind: 'warning',
    text: 'The payment was not cancelled: what is due has been seen, or it has ended. Its state is below.',
  },
  noteSaved: done('The note and the tags are saved.'),
  evidenceNotYet: { kind: 'warning', text: 'No signed head covers this payment yet: try again in some minutes.' },
  withdrawn: done('The withdrawal is on its way: this is the payment that pays it out.'),
  settlementSet: done('The settlement wallet is saved.'),
  settlementRequested: done('The new wallet takes effect after the waiting time. You can cancel it until then.'),
  settlementCancelled: done('The change is cancelled: the wallet stays as it is.'),
  profileSaved: done('The branding is saved.'),
  logoSaved: done('The logo is saved.'),
  logoRemoved: done('The logo is removed.'),
  sitesSaved: done('The sites are saved. They count for every page of a payment from now on, open ones aside.'),
  payFromSaved: done('What payers may choose is saved. New payments offer it; older ones keep theirs.'),
  notificationsSaved: done('Your notifications are saved.'),
  policySaved: done('What happens with other amounts is saved. New payments go by it; older ones keep theirs.'),
  appRegistered: done(
    'Your app is registered and works. Step 4 of 4: set the wallet that receives its payouts, or do it later.',
  ),
  registrationDiscarded: done('The registration is thrown away.'),
} as const satisfies Record<string, Flash>;

export type Notice = keyof typeof flashes;

const life_s = 60;

/** Reports the outcome of a form once, on the page that it leads to. The cookie holds the name of a text, so nobody can inject text. */
export const noticeCookie = (told: Notice): SetCookie => ({ name: 'told', value: told, life_s });
export const noNotice: SetCookie = { name: 'told', value: null };

export const noticeIn = ({ told }: Cookies): Flash | null =>
  told !== undefined && Object.hasOwn(flashes, told) ? flashes[told as Notice] : null;

export interface Challenged {
  readonly challenge: string;
  /** As typed; only this browser displays it. */
  readonly email: string;
  readonly purpose: 'signIn' | 'register';
  /** Page to return to. */
  readonly next: string | null;
}

/** Life of a code. */
const challengeLife_s = 600;

const check = compileBody(
  Type.Object({
    challenge: Type.String(),
    email: Type.String(),
    purpose: Type.Union([Type.Literal('signIn'), Type.Literal('register')]),
    next: Type.Union([Type.String(), Type.Null()]),
  }),
);

/** A browser keeps this between requesting a code and entering it: the challenge that the code belongs to, and its purpose. */
export const challengeCookie = (challenged: Challenged): SetCookie => ({
  name: 'challenge',
  value: Buffer.from(JSON.stringify(challenged)).toString('base64url'),
  life_s: challengeLife_s,
});

/** Null without one, and for a foreign one. */
export function challengeIn({ challenge }: Cookies): Challenged | null {
  if (challenge === undefined) return null;
  try {
    const read: unknown = JSON.parse(Buffer.from(challenge, 'base64url').toString());
    check(read);
    return read as Challenged;
  } catch {
    return null;
  }
}
