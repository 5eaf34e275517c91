import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { createSecretBox, keyIdOf, parseMasterKey, SecretBoxError } from '../../src/security/masterKey.ts';

describe('secret box', () => {
  const key = randomBytes(32);
  const box = createSecretBox(key);

  it('opens what it sealed', () =>
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (plain, context) => {
        assert.equal(box.open(box.seal(plain, context), context), plain);
      }),
    ));

  it('never seals the same text twice alike, and never reveals it', () => {
    const [one, two] = [box.seal('a secret', 'app'), box.seal('a secret', 'app')];
    assert.notEqual(one, two);
    for (const sealed of [one, two]) {
      assert(!Buffer.from(sealed.split('.')[2] ?? '', 'base64url').includes('a secret'));
    }
  });

  it('opens a secret only for its own purpose', () =>
    assert.throws(
      () => box.open(box.seal('a secret', 'webhookSecret:merchant_a'), 'webhookSecret:merchant_b'),
      SecretBoxError,
    ));

  it('notices every changed byte', () => {
    const sealed = box.seal('a secret', 'app');
    const [version, id, text = ''] = sealed.split('.');
    const bytes = Buffer.from(text, 'base64url');
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
      assert.throws(() => box.open(`${version}.${id}.${changed.toString('base64url')}`, 'app'), SecretBoxError);
    }
  });

  for (const text of ['', 'v1', 'v1.', 'v2.00000000.AAAA', `v1.${keyIdOf(key)}.`, `v1.${keyIdOf(key)}.AAAA`]) {
    it(`refuses "${text.slice(0, 12)}" as sealed text`, () =>
      assert.throws(() => box.open(text, 'app'), SecretBoxError));
  }

  it('states which key is missing when it is started with another one', () => {
    const other = randomBytes(32);
    const sealed = box.seal('a secret', 'app');
    assert.throws(
      () => createSecretBox(other).open(sealed, 'app'),
      (error: Error) =>
        error instanceof SecretBoxError &&
        error.message.includes(keyIdOf(key)) &&
        error.message.includes(keyIdOf(other)),
    );
  });

  it('still opens texts that were sealed before the master key was changed', () => {
    const next = createSecretBox(randomBytes(32), [key]);
    assert.equal(next.open(box.seal('a secret', 'app'), 'app'), 'a secret');
    assert.throws(() => box.open(next.seal('a secret', 'app'), 'app'), SecretBoxError);
  });

  it('accepts keys of 32 bytes only, and repeats none in its messages', () => {
    assert.deepEqual(parseMasterKey('0f'.repeat(32)), Buffer.alloc(32, 0x0f));
    for (const text of ['', '0f', '0f'.repeat(31), 'zz'.repeat(32), `${'0f'.repeat(32)}\n`]) {
      assert.throws(
        () => parseMasterKey(text),
        (error: Error) => error instanceof SecretBoxError && (text.length < 4 || !error.message.includes(text)),
      );
    }
    assert.throws(() => createSecretBox(randomBytes(16)), SecretBoxError);
  });
});
