import { createHmac, timingSafeEqual } from 'node:crypto';

export type Verdict = 'valid' | 'timestamp_expired' | 'invalid_signature';

const tolerance_ms = 5 * 60_000;

/**
 * Verification by every receiver of webhooks (service-reference 5.2). Written independently of the sender's code, as a merchant would.
 *
 * @param body the raw bytes, never JSON that was parsed and formatted again
 * @param secrets possible webhook secrets, 64 hex characters each
 */
export function verifyWebhook(
  headers: { readonly timestamp: string | undefined; readonly signature: string | undefined },
  body: Uint8Array,
  secrets: readonly string[],
  now_ms: number,
): Verdict {
  const { timestamp = '', signature = '' } = headers;
  if (!/^\d{1,15}$/.test(timestamp) || Math.abs(now_ms - Number(timestamp)) > tolerance_ms) return 'timestamp_expired';
  const given = Buffer.from(signature);
  const matches = secrets.filter((secret) => {
    const hmac = createHmac('sha256', secret).update(timestamp).update('.').update(body);
    const expected = Buffer.from(`sha256=${hmac.digest('hex')}`);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
  return matches.length > 0 ? 'valid' : 'invalid_signature';
}
