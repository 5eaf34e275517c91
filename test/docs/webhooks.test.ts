import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { signWebhook } from '../../commands/webhookSignature.ts';
import { verifyWebhook } from '../../sandbox/verifyWebhook.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const page = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8');
const given = (name: string): string => new RegExp(`^${name} +(.+)$`, 'm').exec(page)?.[1] ?? assert.fail(name);

const [secret, timestamp, signature] = [given('secret'), given('timestamp'), given('signature')];
const body = Buffer.from(given('body'), 'utf8');
const at_ms = Number(timestamp);
const tolerance_ms = 5 * 60_000;

type IsGenuine = (headers: object, body: Uint8Array, secrets: readonly string[], now_ms: number) => boolean;

describe('docs/webhooks.md', () => {
  it('has a test vector that the service itself signs so', () => {
    const signed = signWebhook({ deliveryId: JSON.parse(body.toString()).event_id, body, secret }, at_ms);
    assert.equal(signed.signature, signature);
    assert.equal(verifyWebhook({ timestamp, signature }, body, [secret], at_ms), 'valid');
  });

  it('has a receiver that believes the vector and nothing near it', async () => {
    const code = /```js\n([\s\S]*?)```/.exec(page)?.[1] ?? assert.fail('no code');
    const file = join(temporaryDirectory(), 'receiver.mjs');
    writeFileSync(file, code);
    const { isGenuine } = (await import(pathToFileURL(file).href)) as { isGenuine: IsGenuine };
    const headers = { 'x-service-timestamp': timestamp, 'x-service-signature': signature };
    const old = '0'.repeat(64);

    for (const away_ms of [0, -tolerance_ms, tolerance_ms])
      assert.ok(isGenuine(headers, body, [secret], at_ms + away_ms));
    assert.ok(isGenuine(headers, body, [old, secret], at_ms), 'two secrets while rotating');

    assert.ok(!isGenuine(headers, body, [secret], at_ms + tolerance_ms + 1_000));
    assert.ok(!isGenuine(headers, body, [secret], at_ms - tolerance_ms - 1_000));
    assert.ok(!isGenuine(headers, body, [old], at_ms));
    assert.ok(!isGenuine(headers, Buffer.concat([body, Buffer.from('\n')]), [secret], at_ms));
    assert.ok(!isGenuine(headers, body, [Buffer.from(secret, 'hex') as unknown as string], at_ms), 'decoded');
    assert.ok(!isGenuine({ ...headers, 'x-service-timestamp': String(at_ms + 1) }, body, [secret], at_ms));
    assert.ok(!isGenuine({}, body, [secret], at_ms));
  });
});
