/** Headers that decide whether other sites may frame a payment's page. */
import { contentSecurityPolicy } from '../../src/api/middleware.ts';

/**
 * `frame-ancestors` lists them (CSP level 3, 6.4.2); `X-Frame-Options` can list none, so it is omitted if some site may, and is DENY
 * otherwise. A page with a form sends its origin only to us: with `no-referrer` browsers would hide the form's origin, and for other sites
 * `same-origin` reveals as little.
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
