/** What a browser keeps when somebody has signed in with it: proof that it may ask for codes again, whatever strangers do. */
import { hour_ms, type Instant, plus } from '../../domain/time.ts';
import { type SecretBox, SecretBoxError } from '../security/secretBox.ts';

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

/** Null for text that we did not make, and for what is older than a year. */
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
