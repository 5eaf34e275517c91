/** Guessing, forging and reading of payment links. */
import assert from 'node:assert/strict';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { createPaymentSecrets } from '../../src/security/masterKey.ts';

const masterKey = createHash('sha256').update('a master key').digest();
const secrets = createPaymentSecrets(masterKey);
const paymentId = '0198f3c2-0000-8000-8000-000000000001';

describe('secrets of links to pay', () => {
  it('find their payment, and are the same at any time and place', () => {
    const secret = secrets.secretOf(paymentId);
    assert.equal(secrets.paymentIdOf(secret), paymentId);
    assert.equal(createPaymentSecrets(Uint8Array.from(masterKey)).secretOf(paymentId), secret);
    assert.match(secret, /^[\w-]{43}$/);
  });

  it('find every payment', () => {
    for (let n = 0; n < 500; n += 1) {
      const id = randomUUID();
      assert.equal(secrets.paymentIdOf(secrets.secretOf(id)), id);
    }
  });

  it('reveal nothing of the id, not even that two ids begin alike', () => {
    const [one, other] = [paymentId, paymentId.replace(/1$/, '2')].map((id) =>
      Buffer.from(secrets.secretOf(id), 'base64url'),
    );
    assert.ok(one && other);
    const id = Buffer.from(paymentId.replaceAll('-', ''), 'hex');
    assert.ok(!one.includes(id.subarray(0, 4)));
    const same = one.filter((byte, place) => byte === other[place]).length;
    assert.ok(same < 8, `${same} of 32 bytes are the same`);
  });

  it('have one spelling: changed in one character, in case or length, they find nothing', () => {
    const secret = secrets.secretOf(paymentId);
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    for (let place = 0; place < secret.length; place += 1) {
      for (const character of alphabet) {
        const changed = `${secret.slice(0, place)}${character}${secret.slice(place + 1)}`;
        if (changed !== secret) assert.equal(secrets.paymentIdOf(changed), null, changed);
      }
    }
    const others = [
      secret.toLowerCase(),
      secret.toUpperCase(),
      secret.slice(0, -1),
      `${secret}A`,
      `${secret}=`,
      ` ${secret}`,
    ];
    for (const text of [...others, '', paymentId, `${secret}\n`]) assert.equal(secrets.paymentIdOf(text), null, text);
  });

  it('cannot be combined from two of them, or forged', () => {
    const [one, other] = [secrets.secretOf(randomUUID()), secrets.secretOf(randomUUID())].map((text) =>
      Buffer.from(text, 'base64url'),
    );
    assert.ok(one && other);
    const mixed = Buffer.concat([one.subarray(0, 16), other.subarray(16)]).toString('base64url');
    assert.equal(secrets.paymentIdOf(mixed), null);
    for (let n = 0; n < 500; n += 1) assert.equal(secrets.paymentIdOf(randomBytes(32).toString('base64url')), null);
  });

  it('belong to one installation', () => {
    assert.equal(createPaymentSecrets(randomBytes(32)).paymentIdOf(secrets.secretOf(paymentId)), null);
  });

  it('are derived from ids alone', () => {
    assert.throws(() => secrets.secretOf('0198f3c2'), TypeError);
  });
});
