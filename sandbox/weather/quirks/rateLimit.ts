/**
 * Maximum units per second. Retry-After in seconds or as a date: RFC 9110, 10.2.3 (Cloudflare before public nodes sends seconds, gateways
 * on AWS dates). In a body of JSON-RPC: Alchemy, HTTP 429 and code 429 "exceeded its compute units per second capacity" (docs.alchemy.com,
 * throughput); Infura −32005 "project ID request rate exceeded"; QuickNode −32007 "50/second request limit reached".
 */
import type { Call, HttpReply } from '../call.ts';
import { jsonHeaders } from '../call.ts';
import { everywhere, type Quirk } from '../quirk.ts';

export interface RateLimitSettings {
  readonly perSecond: number;
  /** Burst. Default: the units of one second. */
  readonly burst?: number;
  /** Cost of a method in units. Default: 1. */
  readonly units?: Readonly<Record<string, number>>;
  /** `body`: HTTP 200, and an error of JSON-RPC. `bare`: HTTP 429 and nothing else. */
  readonly form: 'seconds' | 'date' | 'body' | 'bare';
  /** Code of the error. Default: 429. */
  readonly code?: number;
}

export const rateLimit: Quirk<RateLimitSettings> = {
  families: everywhere,
  says: 'a maximum number of units per second; 429 with Retry-After in seconds, as a date, or only in the body',
  begin({ perSecond, burst = perSecond, units = {}, form, code = 429 }, { now }) {
    let left = burst;
    let at_ms = now();
    return (calls) => {
      const cost = calls.reduce((sum, { method }) => sum + (units[method] ?? 1), 0);
      const spent_ms = now() - at_ms;
      at_ms += spent_ms;
      left = Math.min(burst, left + (spent_ms / 1_000) * perSecond);
      if (left >= cost) {
        left -= cost;
        return {};
      }
      const wait_s = Math.max(1, Math.ceil((cost - left) / perSecond));
      const refused = refusal[form](calls, code, wait_s, now());
      return { http: async () => refused };
    };
  },
};

type Refuse = (calls: readonly Call[], code: number, wait_s: number, now_ms: number) => HttpReply;

const refusal: Readonly<Record<RateLimitSettings['form'], Refuse>> = {
  seconds: (_, __, wait_s) => ({ status: 429, headers: { 'retry-after': String(wait_s) }, body: '' }),
  date: (_, __, wait_s, now_ms) => ({
    status: 429,
    headers: { 'retry-after': new Date(now_ms + wait_s * 1_000).toUTCString() },
    body: '',
  }),
  body: (calls, code) => ({ status: 200, headers: jsonHeaders, body: errorBody(calls, code) }),
  bare: () => ({ status: 429, headers: { 'content-type': 'text/plain' }, body: 'Too Many Requests' }),
};

function errorBody(calls: readonly Call[], code: number): string {
  const error = { code, message: 'Your app has exceeded its compute units per second capacity.' };
  return JSON.stringify({ jsonrpc: '2.0', id: calls[0]?.id ?? null, error });
}
