/** Cross-origin access (CORS) to routes that work without a key. Browsers send neither keys nor cookies along. */
import type { AnyRoute } from './route.ts';

/** Answer headers that pages of other origins may read. */
const exposed = ['Idempotent-Replayed', 'Location', 'RateLimit', 'RateLimit-Policy', 'Retry-After', 'X-Request-Id'];

export const anyOriginHeaders: Map<string, string> = new Map([
  ['Access-Control-Allow-Origin', '*'],
  ['Access-Control-Expose-Headers', exposed.join(', ')],
]);

/** Without `X-API-Key` and `Authorization`: a key in a page is a leaked key. */
const allowed = ['Content-Type', 'X-Request-Id'];
/** Chromium's own maximum. */
const preflightLife_s = 7_200;

/** Headers that answer a browser's preflight for the routes of one path. */
export function preflightOf(routes: readonly AnyRoute[]): Readonly<Record<string, string>> {
  const open = routes.filter(({ anyOrigin }) => anyOrigin);
  if (open.length === 0) return {};
  return {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Methods': open.map(({ method }) => method.toUpperCase()).join(', '),
    'Access-Control-Allow-Headers': allowed.join(', '),
    'Access-Control-Max-Age': String(preflightLife_s),
  };
}
