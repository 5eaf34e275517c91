/** Limits on requesting codes: strangers cannot use up the limits of known browsers. */

import { hash } from 'node:crypto';
import type { Clock } from '../../commands/ports.ts';
import { type Refusal, refuse } from '../../domain/decider.ts';
import { hour_ms, type Instant, plus } from '../../domain/time.ts';
import { type SecretBox, SecretBoxError } from '../security/masterKey.ts';
import type { Asker } from './accounts.ts';
import type { CodeDigits } from './passcodes.ts';

// Token of a browser after a sign-in: proof that it may request codes again, whatever strangers do.

export interface KnownBrowser {
  readonly developerId: string;
  readonly browserId: string;
  readonly since: Instant;
}

export const knownLife_ms = 365 * 24 * hour_ms;
const context = 'knownBrowser';
const textMax = 512;

export const knownText = (box: Pick<SecretBox, 'seal'>, browser: KnownBrowser): string =>
  box.seal(JSON.stringify(browser), context);

/** Null for text that this service did not make, or older than a year. */
export function readKnown(box: Pick<SecretBox, 'open'>, text: string | null, now: Instant): KnownBrowser | null {
  if (text === null || text.length > textMax) return null;
  try {
    const browser = JSON.parse(box.open(text, context)) as KnownBrowser;
    return now < plus(browser.since, knownLife_ms) ? browser : null;
  } catch (error) {
    if (error instanceof SecretBoxError) return null;
    throw error;
  }
}

/**
 * signIn: codes requested from one address. signInEmail: codes mailed to one address for strangers. signInKnown: codes requested by one
 * known browser, which the other two do not count. registration: registrations from one address. shortCodesEmail, shortCodes: six-digit
 * codes for one mailbox, and for all; further codes have eight digits.
 */
export type SignInLimitName =
  | 'signIn'
  | 'signInEmail'
  | 'signInKnown'
  | 'registration'
  | 'shortCodesEmail'
  | 'shortCodes';

export interface SignInLimitDeps {
  /** Null if there is no limit. @throws Unavailable if the count is unknown */
  count(
    name: SignInLimitName,
    who: string,
    sharer?: string,
  ): Promise<{ readonly allowed: boolean; readonly reset_s: number } | null>;
}

/** Properties of the mailed code. */
export interface Code {
  readonly digits: CodeDigits;
}

/** Limits of sign-in and registration. */
export interface SignInLimits {
  /** Counts a request for a code, and decides how many digits the code has. @param developerId owner of the address; null for an unknown address */
  askForCode(email: string, developerId: string | null, asker: Asker): Promise<Refusal | Code>;
  register(asker: Asker): Promise<Refusal | undefined>;
}

export interface SignInLimitsDeps {
  readonly limits: SignInLimitDeps;
  readonly box: Pick<SecretBox, 'open'>;
  readonly clock: Pick<Clock, 'now'>;
}

const refusals: Readonly<Record<Exclude<SignInLimitName, 'shortCodesEmail' | 'shortCodes'>, string>> = {
  signIn: 'too many codes were asked for from this address',
  signInEmail: 'too many codes were asked for with this e-mail address',
  signInKnown: 'too many codes were asked for in this browser',
  registration: 'too many registrations came from this address',
};

export function createSignInLimits({ limits, box, clock }: SignInLimitsDeps): SignInLimits {
  async function count(name: keyof typeof refusals, who: string, sharer?: string): Promise<Refusal | undefined> {
    const counted = await limits.count(name, who, sharer);
    if (!counted || counted.allowed) return undefined;
    const { reset_s } = counted;
    return { ...refuse('rateLimited', `${refusals[name]}: try again in ${reset_s} s`), retryAfter_s: reset_s };
  }

  /**
   * A requester of many codes can guess one: five attempts per code. Many codes for one mailbox, or for all together, are not refused,
   * since that would lock out owners. They have eight digits instead.
   */
  async function digitsFor(mailbox: string): Promise<CodeDigits> {
    const one = await limits.count('shortCodesEmail', mailbox);
    if (one && !one.allowed) return 8;
    const all = await limits.count('shortCodes', 'all');
    return all && !all.allowed ? 8 : 6;
  }

  return {
    register: ({ address }) => count('registration', address),

    async askForCode(email, developerId, asker) {
      const known = readKnown(box, asker.known, clock.now());
      if (known && known.developerId === developerId)
        return (await count('signInKnown', known.browserId)) ?? { digits: 6 };
      const mailbox = hash('sha256', email);
      return (
        (await count('signIn', asker.address)) ??
        (await count('signInEmail', mailbox, asker.address)) ?? { digits: await digitsFor(mailbox) }
      );
    },
  };
}
