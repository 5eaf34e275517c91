/**
 * The dashboard's cookies. `__Host-` (RFC 6265bis): a browser takes them from this host alone, over TLS or loopback, for every path.
 * No script reads them.
 */
import type { IncomingMessage } from 'node:http';

/**
 * session: the token of somebody who has signed in. challenge: binds a passcode to the browser that asked for it. known: this browser
 * has signed in before. told: what the last request did, by name.
 */
export type CookieName = 'session' | 'challenge' | 'known' | 'told';
export type Cookies = Readonly<Partial<Record<CookieName, string>>>;

export interface SetCookie {
  readonly name: CookieName;
  /** Null removes it. */
  readonly value: string | null;
  /** For a session of the browser when left out. */
  readonly life_s?: number;
}

/** Lax: who follows a link from a mail arrives signed in. The others are needed only on the dashboard's own ways. */
const sameSite: Readonly<Record<CookieName, 'Strict' | 'Lax'>> = {
  session: 'Lax',
  challenge: 'Strict',
  known: 'Strict',
  told: 'Strict',
};
const names = Object.keys(sameSite) as CookieName[];

/** Longer values are none of ours. */
const valueMax = 2_048;
const plainValue = /^[\w.~-]+$/;

/** One pass over the header: other cookies, and a header of separators alone, cost nothing more. */
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
