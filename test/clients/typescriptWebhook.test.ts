import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { verifyWebhook } from '../../clients/typescript/src/index.ts';
import { signWebhook } from '../../commands/sendWebhook.ts';

interface Vector {
  readonly what: string;
  readonly scheme: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly secrets: readonly string[];
  readonly now_ms: number;
  readonly verdict: string;
}
const vectors = JSON.parse(
  readFileSync(new URL('../../clients/webhook-vectors.json', import.meta.url), 'utf8'),
) as readonly Vector[];

describe('the TypeScript client verifies webhooks', () => {
  for (const { what, scheme, headers, body, secrets, now_ms, verdict } of vectors) {
    it(`${scheme}, ${what}: ${verdict}`, async () => {
      const given = await verifyWebhook({ headers, body: Buffer.from(body, 'base64'), secrets, now_ms });
      assert.equal(given.ok ? 'ok' : given.reason, verdict);
    });
  }

  it('as the service signs them, from Headers or an object, from bytes or text, and returns the event', async () => {
    const [secret, now_ms, deliveryId] = ['ab'.repeat(32), 1_795_251_600_000, crypto.randomUUID()];
    const body = JSON.stringify({ event_id: deliveryId, type: 'webhook_test' });
    const signed = signWebhook({ deliveryId, body: Buffer.from(body), secret }, now_ms);
    const headers = { 'X-Service-Timestamp': String(now_ms), 'X-Service-Signature': signed.signature };
    const bytes = new Uint8Array(Buffer.from(body));
    for (const given of [headers, new Headers(headers)])
      for (const sent of [body, bytes, bytes.buffer]) {
        const verdict = await verifyWebhook({ headers: given, body: sent, secrets: [secret], now_ms });
        assert.deepEqual(verdict, { ok: true, event: JSON.parse(body) });
      }
  });

  it('refuses a header that arrived twice', async () => {
    const headers = { 'x-service-timestamp': '1795251600000', 'x-service-signature': ['sha256=1', 'sha256=2'] };
    const verdict = await verifyWebhook({ headers, body: '{}', secrets: ['00'], now_ms: 1_795_251_600_000 });
    assert.deepEqual(verdict, { ok: false, reason: 'missing_header' });
  });
});
