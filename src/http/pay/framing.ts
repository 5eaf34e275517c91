/** Whether other sites may show a page of a payment in a frame. */
import { contentSecurityPolicy } from '../guards.ts';

/**
 * `frame-ancestors` names them (CSP level 3, 6.4.2); `X-Frame-Options` can name none, so it goes where somebody may, and says DENY
 * with every other answer.
 *
 * @param sites origins that the merchant allows
 */
export const framing = (sites: readonly string[]): Readonly<Record<string, string | null>> =>
  sites.length === 0
    ? {}
    : { 'Content-Security-Policy': contentSecurityPolicy({ frameAncestors: [...sites] }), 'X-Frame-Options': null };
