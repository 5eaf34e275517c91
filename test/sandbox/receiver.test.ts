import assert from 'node:assert/strict';
import { createHmac, X509Certificate } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { webhookSecretContext } from '../../commands/merchantRegistration.ts';
import { instant } from '../../domain/time.ts';
import { keepCertificate } from '../../sandbox/certificate.ts';
import { startReceiver } from '../../sandbox/receiver.ts';
import { verifyWebhook } from '../../sandbox/verifyWebhook.ts';
import { createSecretBox, parseMasterKey } from '../../src/security/masterKey.ts';
import { sharedEventStore } from '../support/eventstore.ts';
import { append, createWorld } from '../support/histories.ts';
import { onStop } from '../support/hooks.ts';
import { startTestReceiver, type TestReceiver } from '../support/receiver.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const secret = '5e'.repeat(32);
const minute_ms = 60_000;

const signed = (body: string, at_ms: number, key = secret) => ({
  'x-service-timestamp': String(at_ms),
  'x-service-signature': `sha256=${createHmac('sha256', key).update(`${at_ms}.${body}`).digest('hex')}`,
});

interface Answer {
  readonly status: number | undefined;
  readonly body: unknown;
}

function send(receiver: TestReceiver, body: string, headers: Record<string, string>, method = 'POST'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(receiver.url, { method, headers, ca: receiver.ca }, async (response) => {
      resolve({ status: response.statusCode, body: JSON.parse(await text(response)) });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

describe('webhook receiver', () => {
  let receiver: TestReceiver;
  before(async () => {
    receiver = await startTestReceiver();
    receiver.setSecrets({ wallet_other: 'ab'.repeat(32), merchant_bakery: secret });
  });

  it('accepts webhooks signed with a known secret, and logs the raw body', async () => {
    const body = '{ "title":  "Brötchen 🥐" }\n';
    const headers = signed(body, Date.now());
    assert.deepEqual(await send(receiver, body, headers), { status: 200, body: { received: true } });
    const line = receiver.logged().at(-1);
    assert.deepEqual(Object.keys(line ?? {}), ['receivedAt', 'headers', 'body', 'valid']);
    assert.equal(line?.body, body);
    assert.equal(line?.valid, true);
    assert.equal(line?.headers['x-service-signature'], headers['x-service-signature']);
  });

  it('refuses a body other than the signed one, and logs it as not valid', async () => {
    const answer = await send(receiver, '{"amount":"9.00"}', signed('{"amount":"1.00"}', Date.now()));
    assert.deepEqual(answer, { status: 401, body: { error: 'invalid_signature' } });
    assert.equal(receiver.logged().at(-1)?.valid, false);
  });

  it('refuses a timestamp more than 5 minutes away, either way', async () => {
    for (const away of [-6 * minute_ms, 6 * minute_ms]) {
      const answer = await send(receiver, '{}', signed('{}', Date.now() + away));
      assert.deepEqual(answer, { status: 401, body: { error: 'timestamp_expired' } });
    }
  });

  it('uses a rotated secret at once, and the old one no more', async () => {
    const next = 'c0'.repeat(32);
    receiver.setSecrets({ merchant_bakery: next });
    assert.equal((await send(receiver, '{}', signed('{}', Date.now(), next))).status, 200);
    assert.equal((await send(receiver, '{}', signed('{}', Date.now()))).status, 401);
    receiver.setSecrets({ merchant_bakery: secret });
  });

  it('accepts apps that a merchant registered in its sandbox, with the secret in force', async () => {
    const { url, store } = await sharedEventStore();
    const dataDir = temporaryDirectory();
    const masterKey = 'ab'.repeat(32);
    writeFileSync(join(dataDir, 'service.env'), `EVENTSTORE_URL=${url}\nMASTER_KEY=${masterKey}\n`);
    const own = await startTestReceiver(undefined, dataDir);
    const appId = `merchant_own${Date.now()}`;
    const at = instant(Date.now());
    const rotated = (plain: string) => ({
      type: 'WebhookSecretRotated',
      data: {
        ciphertext: createSecretBox(parseMasterKey(masterKey)).seal(plain, webhookSecretContext(appId)),
        fingerprint: `sha256:${'0'.repeat(64)}`,
        rotatedAt: at,
      },
    });
    const world = { ...createWorld(), store };
    await append(world, `merchant-${appId}`, [
      { type: 'MerchantRegistered', data: { appId, developerId: null, idSalt: 'a'.repeat(64), registeredAt: at } },
      rotated(secret),
    ]);
    const body = JSON.stringify({ type: 'webhook_test', data: { appId } });
    assert.equal((await send(own, body, signed(body, Date.now()))).status, 200);
    assert.equal((await send(own, body, signed(body, Date.now(), 'cd'.repeat(32)))).status, 401);
    const next = 'c0'.repeat(32);
    await append(world, `merchant-${appId}`, [rotated(next)]);
    assert.equal((await send(own, body, signed(body, Date.now(), next))).status, 200);
    assert.equal((await send(own, body, signed(body, Date.now()))).status, 401);
    const unknown = JSON.stringify({ data: { appId: 'merchant_nobody' } });
    assert.equal((await send(own, unknown, signed(unknown, Date.now()))).status, 401);
  });

  it('accepts no other method and no endless body', async () => {
    assert.equal((await send(receiver, '', {}, 'GET')).status, 405);
    const lines = receiver.logged().length;
    assert.equal((await send(receiver, 'x'.repeat(300_000), {})).status, 413);
    assert.equal(receiver.logged().length, lines);
  });

  it('states why it does not start', async () => {
    const directory = temporaryDirectory();
    const files = { logFile: `${directory}/log`, secretsFile: `${directory}/secrets`, certificates: directory };
    const second = startReceiver({ port: receiver.port, ...files, errorFile: `${directory}/errors` });
    await assert.rejects(second, new RegExp(`port ${receiver.port}`));
    assert.match(readFileSync(`${directory}/errors`, 'utf8'), /EADDRINUSE/);
  });

  it('is ended by its pid when detached', async () => {
    const directory = temporaryDirectory();
    const files = { logFile: `${directory}/log`, secretsFile: `${directory}/secrets`, certificates: directory };
    const detached = await startReceiver({ port: 0, ...files, detached: true });
    onStop(() => detached.stop());
    assert.doesNotThrow(() => process.kill(detached.pid, 0));
    await detached.stop();
    assert.throws(() => process.kill(detached.pid, 0), { code: 'ESRCH' });
  });
});

describe('webhook verification', () => {
  const now = Date.now();
  const verify = (more: Partial<{ timestamp: string; signature: string }>, body = '{}', secrets = [secret]) => {
    const headers = signed('{}', now);
    const sent = { timestamp: headers['x-service-timestamp'], signature: headers['x-service-signature'], ...more };
    return verifyWebhook(sent, Buffer.from(body), secrets, now);
  };

  it('accepts to the edge of 5 minutes', () => {
    const at = (away: number) => {
      const headers = signed('{}', now + away);
      return verify({ timestamp: headers['x-service-timestamp'], signature: headers['x-service-signature'] });
    };
    assert.deepEqual([at(0), at(-5 * minute_ms), at(5 * minute_ms)], ['valid', 'valid', 'valid']);
    assert.deepEqual([at(-5 * minute_ms - 1), at(5 * minute_ms + 1)], ['timestamp_expired', 'timestamp_expired']);
  });

  it('accepts nothing without a secret, with a changed body, or with an odd header', () => {
    assert.equal(verify({}, '{}', []), 'invalid_signature');
    assert.equal(verify({}, '{ }'), 'invalid_signature');
    for (const signature of ['', 'sha256=', signed('{}', now)['x-service-signature'].toUpperCase(), 'sha256=ä']) {
      assert.equal(verify({ signature }), 'invalid_signature');
    }
    for (const timestamp of ['', 'now', `${now}.5`, `-${now}`, '1e13', '9'.repeat(400)]) {
      assert.equal(verify({ timestamp }), 'timestamp_expired');
    }
  });
});

describe('receiver certificate', () => {
  it('is made once and kept, its key for the owner only', async () => {
    const directory = temporaryDirectory();
    const { certFile, keyFile } = await keepCertificate(directory);
    const first = readFileSync(certFile, 'utf8');
    assert.equal(statSync(keyFile).mode & 0o777, 0o600);
    const certificate = new X509Certificate(first);
    assert(certificate.checkIP('127.0.0.1') && certificate.checkHost('localhost'));
    assert.equal(certificate.checkHost('bakery.example'), undefined);
    await keepCertificate(directory);
    assert.equal(readFileSync(certFile, 'utf8'), first);
  });

  it('is created again when its files are broken or do not belong together', async () => {
    const [directory, other] = [temporaryDirectory(), temporaryDirectory()];
    const { certFile, keyFile } = await keepCertificate(directory);
    const foreign = await keepCertificate(other);
    for (const key of ['', readFileSync(foreign.keyFile, 'utf8')]) {
      writeFileSync(keyFile, key);
      const before = readFileSync(certFile, 'utf8');
      await keepCertificate(directory);
      assert.notEqual(readFileSync(certFile, 'utf8'), before);
    }
  });
});
