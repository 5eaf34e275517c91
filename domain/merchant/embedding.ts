/** Which sites may show an app's payment pages in a frame. They go into a header of those pages, so nothing but plain origins gets here. */
import { type Decision, isRefusal, type Refusal, refuse } from '../decider.ts';
import type { MerchantEvent } from './events.ts';
import { type MerchantState, ofRegistered } from './state.ts';

export const embeddingSitesMax = 10;
/** Far above a host's name (253) with scheme and port. */
export const siteMax = 300;

/** Where one tries things out: browsers take these for safe without TLS. */
const onThisMachine = /^http:\/\/(localhost|127\.0\.0\.1)(:\d+)?$/;
/** Labels of letters, digits and hyphens; the last one begins with a letter, so that no IP address is among them. */
const atHttps = /^https:\/\/([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z]([a-z0-9-]{0,61}[a-z0-9])?(:\d+)?$/;

export interface SitesStated {
  readonly sites: readonly string[];
  /** Whether pages that are served by this machine itself count: in a sandbox. */
  readonly local: boolean;
}

/** Replaces the whole list; an empty one stops all framing. What is stated in another order, twice or in capitals is the same. */
export function setEmbeddingSites(state: MerchantState, { sites, local }: SitesStated): Decision<MerchantEvent> {
  if (sites.length > embeddingSitesMax) return refused(`must hold ${embeddingSitesMax} sites at most`);
  const read: string[] = [];
  for (const [n, text] of sites.entries()) {
    const site = readSite(text, local, `/sites/${n}`);
    if (isRefusal(site)) return site;
    read.push(site);
  }
  const next = [...new Set(read)].toSorted();
  const same = next.join() === state.embeddingSites.join();
  return ofRegistered(state, same ? [] : [{ type: 'EmbeddingSitesSet', data: { sites: next } }]);
}

/**
 * Reads a site as an origin (HTML standard, 7.1.1): scheme, host and, where it is not the usual one, port. A page of it is not
 * meant: whoever can write one page of a site can frame from all of them.
 *
 * @returns as browsers spell it in `event.origin`: lower case, international names in ASCII
 */
function readSite(text: string, local: boolean, pointer: string): string | Refusal {
  const kinds = local ? 'https://, http://localhost or http://127.0.0.1' : 'https://';
  const wrong = `cannot be allowed: state it like https://shop.example, beginning with ${kinds}, without a path, a wildcard or an IP address`;
  // Backslashes, user names, paths, queries and fragments are not dropped without a word, as a URL parser would.
  const isOrigin = text.length <= siteMax && /^https?:\/\/[^\s/\\?#@%]+\/?$/i.test(text) && URL.canParse(text);
  const { origin } = isOrigin ? new URL(text) : { origin: 'null' };
  return atHttps.test(origin) || (local && onThisMachine.test(origin)) ? origin : refused(wrong, pointer);
}

const refused = (problem: string, pointer = '/sites'): Refusal =>
  refuse('invalidRequest', `${pointer} ${problem}`, pointer);
