/** Whether a request that changes something comes from our own pages: cookies alone do not say so. */
import type { IncomingMessage } from 'node:http';
import { ApiError } from '../../src/api/errors.ts';

/**
 * Browsers say where a form was sent from, in Sec-Fetch-Site and in Origin (Fetch standard). Each that is there must name us, and one
 * must be there. `Origin: null` is a page that hides where it is from: never one of ours.
 *
 * @param publicUrl where browsers reach the service when a proxy changes the Host header
 * @throws ApiError forbidden
 */
export function requireSameOrigin({ headers }: Pick<IncomingMessage, 'headers'>, publicUrl: string): void {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  const siteFits = site === undefined || site === 'same-origin';
  const originFits = origin === undefined || isOurs(origin, host, publicUrl);
  if (siteFits && originFits && (site !== undefined || origin !== undefined)) return;
  throw new ApiError('forbidden', 'this did not come from the dashboard itself: open the page and try again there');
}

function isOurs(origin: string, host: string | undefined, publicUrl: string): boolean {
  if (!URL.canParse(origin)) return false;
  const sent = new URL(origin);
  return sent.host === host?.toLowerCase() || sent.origin === new URL(publicUrl).origin;
}
