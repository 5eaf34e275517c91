import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { bodyDigest, signWebhook } from '../../commands/sendWebhook.ts';
import { requestHeaders } from '../../domain/webhook.ts';

const secret = '5e'.repeat(32);
const deliveryId = '9b2f5c1e-8d39-8a53-8f1c-5e0f4f6b1d11';
const body = Buffer.from('{"data":{"title":"Brötchen 🥐"}}');
const signedAt_ms = 1_795_000_000_123;

describe('a webhook’s signatures', () => {
  const signed = signWebhook({ deliveryId, body, secret }, signedAt_ms);

  it('are the reference’s: milliseconds, a dot, the body', () =>
    assert.equal(signed.signature, `sha256=${hmacByHand(`${signedAt_ms}.`, body).toString('hex')}`));

  it('are those of Standard Webhooks: id, seconds, body', () =>
    assert.equal(signed.standardSignature, `v1,${hmacByHand(`${deliveryId}.1795000000.`, body).toString('base64')}`));

  it('are in headers that name the first delivery of a redelivery', () => {
    const headers = requestHeaders({ deliveryId, firstDeliveryId: null }, signed);
    assert.deepEqual(headers, {
      'Content-Type': 'application/json',
      'User-Agent': 'PaymentIntents-Webhook/1',
      'X-Service-Timestamp': String(signedAt_ms),
      'X-Service-Signature': signed.signature,
      'webhook-id': deliveryId,
      'webhook-timestamp': '1795000000',
      'webhook-signature': signed.standardSignature,
    });
    assert.deepEqual(requestHeaders({ deliveryId, firstDeliveryId: 'first' }, signed), {
      ...headers,
      'X-Service-First-Delivery': 'first',
    });
  });

  it('come with the body’s digest', () =>
    assert.equal(signed.bodyDigest, createHash('sha256').update(body).digest('hex')));

  it('distinguish bodies', () => assert.notEqual(bodyDigest(body), bodyDigest(Buffer.concat([body, body]))));
});

/** HMAC-SHA256 written from RFC 2104, independently of the library. The key is the secret's 64 characters. */
function hmacByHand(head: string, rest: Buffer): Buffer {
  const key = Buffer.from(secret, 'utf8');
  const pad = (byte: number) => Buffer.from(key.map((value) => value ^ byte));
  const sha256 = (...parts: Buffer[]) => createHash('sha256').update(Buffer.concat(parts)).digest();
  const mac = sha256(pad(0x5c), sha256(pad(0x36), Buffer.from(head, 'utf8'), rest));
  assert.deepEqual(mac, createHmac('sha256', secret).update(head).update(rest).digest());
  return mac;
}
