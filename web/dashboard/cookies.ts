/**
 * The dashboard's cookies. `__Host-` (RFC 6265bis): a browser accepts them only from this host, over TLS or loopback, for every path. No
 * script can read them.
 */

import type { IncomingMessage } from 'node:http';
import Type from 'typebox';
import { compileBody } from '../../src/api/input.ts';
import type { Flash } from '../parts/frame.ts';
import { flashTexts, type Notice } from '../parts/messages/flashes.ts';
import { pageLanguage } from '../parts/say.ts';

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

/** Kinds of the outcomes that are not successes. */
const flashKinds: Readonly<Partial<Record<Notice, Flash['kind']>>> = {
  redeliveredSome: 'warning',
  notRedelivered: 'problem',
  testNotPaid: 'problem',
  orderKnown: 'warning',
  invitationOver: 'problem',
  notCancelled: 'warning',
  evidenceNotYet: 'warning',
};

const life_s = 60;

/** Reports the outcome of a form once, on the page that it leads to. The cookie holds the name of a text, so nobody can inject text. */
export const noticeCookie = (told: Notice): SetCookie => ({ name: 'told', value: told, life_s });
export const noNotice: SetCookie = { name: 'told', value: null };

/** In the reader's language, also on a page that is not translated. */
export function noticeIn({ told }: Cookies): Flash | null {
  if (told === undefined || !isNotice(told)) return null;
  return { kind: flashKinds[told] ?? 'done', text: flashTexts[pageLanguage()][told] };
}

const isNotice = (name: string): name is Notice => Object.hasOwn(flashTexts.en, name);

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
