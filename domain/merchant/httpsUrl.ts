import { type Refusal, refuse } from '../decider.ts';

export const urlMax = 2_048;

/**
 * Reads a URL that somebody states. Scheme and host may be in any case. What a URL parser would drop or bend without a word is refused:
 * spaces, control characters, backslashes, and, where it is never sent, a fragment.
 *
 * @param field its name in the request
 * @returns the canonical URL
 */
export function readHttpsUrl(
  text: string,
  field: string,
  { fragment }: { readonly fragment: boolean },
): string | Refusal {
  const refused = (problem: string) => refuse('invalidRequest', `${field} ${problem}`, `/${field}`);
  if (!/^https:\/\/[^/]/i.test(text)) return refused('must start with https:// and a host');
  if (/[\s\\\p{C}]/u.test(text))
    return refused('must hold no space, control character or backslash: write it percent-encoded');
  if (!URL.canParse(text)) return refused('is no URL');
  const url = new URL(text);
  if (url.username || url.password) return refused('must not hold a user name or password: they would be stored');
  if (!fragment && text.includes('#')) return refused('must not hold a fragment (#): it is never sent');
  if (url.href.length > urlMax) return refused(`is longer than ${urlMax} characters`);
  return url.href;
}
