/** Whether other sites may show a page of a payment in a frame. */
import { contentSecurityPolicy } from '../../src/api/middleware.ts';

/**
 * `frame-ancestors` names them (CSP level 3, 6.4.2); `X-Frame-Options` can name none, so it goes where somebody may, and says DENY
 * with every other answer. A page with a form sends it to us and nowhere else: with `no-referrer` browsers would hide the form's origin,
 * and to other sites `same-origin` says as little.
 *
 * @param sites origins that the merchant allows
 */
export function framing(sites: readonly string[], hasForm: boolean): Readonly<Record<string, string | null>> {
  const own = {
    ...(sites.length > 0 && { frameAncestors: [...sites] }),
    ...(hasForm && { formAction: ["'self'"] }),
  };
  return {
    ...(Object.keys(own).length > 0 && { 'Content-Security-Policy': contentSecurityPolicy(own) }),
    ...(sites.length > 0 && { 'X-Frame-Options': null }),
    ...(hasForm && { 'Referrer-Policy': 'same-origin' }),
  };
}
